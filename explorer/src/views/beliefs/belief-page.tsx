import { useState } from 'preact/hooks'
import { DIMENSIONS } from '../../../../src/lenses/beliefs/dimensions.ts'
import type { Belief, ChainLink, DerivationChain, Confidence as Vector } from '../../../../src/lenses/beliefs/model.ts'
import { type Explanation, leaf, node } from '../../../../src/model/explanation.ts'
import { count, day, moment, score } from '../../parts/format.ts'
import { Busy, Failure } from '../../parts/parts.tsx'
import { ExplanationTree } from '../../parts/score.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import {
  beliefAddress,
  contentOf,
  dimensionName,
  type Explained,
  type Contradictions as Found,
  type Got,
  holderOf,
  LOOKING,
  plain,
  questionOf,
  type Standing,
  sourceName,
  type TrustPart,
  validity,
} from './wire.ts'

const SIZE = 340
const CENTRE = { x: SIZE / 2, y: 120 }
const RADIUS = 82
const RINGS = [0.25, 0.5, 0.75, 1]

interface ConfidenceProps {
  readonly of: Vector
  /** The table is left out where two stand side by side and one table has both. */
  readonly hasTable?: boolean
}

/** Six dimensions as a radar, and as a table. What is not known has no point. */
export function Confidence({ of, hasTable = true }: ConfidenceProps) {
  return (
    <div class="beliefs-confidence">
      <Radar of={of} />
      {hasTable && <Table of={of} />}
    </div>
  )
}

function Radar({ of }: { readonly of: Vector }) {
  const known = DIMENSIONS.flatMap((dimension, at) => {
    const value = of[dimension]
    return value === null ? [] : [pointAt(at, value)]
  })
  const said = DIMENSIONS.map(dimension => `${dimensionName(dimension)} ${shown(of[dimension])}`).join(', ')
  return (
    <svg class="beliefs-radar" viewBox={`0 0 ${SIZE} 240`} role="img" aria-label={`Confidence: ${said}`}>
      {RINGS.map(ring => (
        <polygon key={ring} class="beliefs-ring" points={DIMENSIONS.map((_, at) => pointAt(at, ring)).join(' ')} />
      ))}
      {DIMENSIONS.map((dimension, at) => {
        const [x = 0, y = 0] = pointAt(at, 1)
        return <line key={dimension} class="beliefs-axis" x1={CENTRE.x} y1={CENTRE.y} x2={x} y2={y} />
      })}
      <polygon class="beliefs-area" points={known.join(' ')} />
      {known.map(([x, y]) => (
        <circle key={`${x} ${y}`} class="beliefs-point" cx={x} cy={y} r={3} />
      ))}
      {DIMENSIONS.map((dimension, at) => {
        const [x = 0, y = 0] = pointAt(at, 1.16)
        const anchor = Math.abs(x - CENTRE.x) < 1 ? 'middle' : x < CENTRE.x ? 'end' : 'start'
        const [first = '', ...others] = dimensionName(dimension).split(' ')
        return (
          <text key={dimension} class="beliefs-label" x={x} y={y + shift(y)} text-anchor={anchor}>
            <tspan x={x}>{others.length === 0 || anchor === 'middle' ? dimensionName(dimension) : first}</tspan>
            {others.length > 0 && anchor !== 'middle' && (
              <tspan x={x} dy="1.1em">
                {others.join(' ')}
              </tspan>
            )}
            <tspan x={x} dy="1.1em" class="beliefs-number">
              {shown(of[dimension])}
            </tspan>
          </text>
        )
      })}
    </svg>
  )
}

function Table({ of }: { readonly of: Vector }) {
  return (
    <table class="beliefs-numbers">
      <caption class="visually-hidden">Confidence by dimension</caption>
      <tbody>
        {DIMENSIONS.map(dimension => (
          <tr key={dimension}>
            <th scope="row">{dimensionName(dimension)}</th>
            <td>{shown(of[dimension])}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Above the points at the top, and with room for a line below those at the bottom. */
function shift(y: number): number {
  if (y < CENTRE.y - 50) return -10
  return y > CENTRE.y + RADIUS ? 6 : 0
}

/** Of a value from 0 to 1 on an axis; the first points up, the others follow clockwise. */
function pointAt(axis: number, value: number): readonly [x: number, y: number] {
  const angle = (axis / DIMENSIONS.length) * 2 * Math.PI - Math.PI / 2
  return [CENTRE.x + RADIUS * value * Math.cos(angle), CENTRE.y + RADIUS * value * Math.sin(angle)]
}

export function shown(value: number | null): string {
  return value === null ? 'not known' : String(Math.round(value * 1000) / 1000)
}

const SHOWN = 10

interface ContradictionsProps {
  readonly id: string
  readonly question: string
}

export function Contradictions({ id, question }: ContradictionsProps) {
  const { value, error } = useAnswer<Found>('beliefs.contradictions', {
    belief_id: id,
    options: { scope: LOOKING.scope, limit: SHOWN },
  })
  if (error !== null) return <Failure error={error} />
  if (value === null) return <Busy what="Looking for what speaks against it" />
  const { contradictions, total_count, detector, warnings } = value
  return (
    <>
      {warnings.map(({ code, message }) => (
        <p key={code + message} class="note">
          {message}
        </p>
      ))}
      {total_count === 0 && <p class="quiet">Nothing that you may see.</p>}
      <ul class="beliefs-against">
        {contradictions.map(({ belief, contradiction }) => (
          <li key={`${belief.id} ${belief.holder_id}`}>
            <p class="text">{contentOf(belief)}</p>
            <p class="quiet small">
              {contradiction.type}, {score(contradiction.score)}, held by {holderOf(belief)} ·{' '}
              <a href={beliefAddress([id, belief.id], question)} aria-label={`Side by side with ${belief.id}`}>
                Side by side
              </a>
            </p>
          </li>
        ))}
      </ul>
      {total_count > contradictions.length && (
        <p class="quiet small">{count(total_count - contradictions.length)} more are left out.</p>
      )}
      <p class="quiet small">
        Found by {detector.name}: {detector.note}
      </p>
    </>
  )
}

interface DerivationProps {
  readonly of: Belief
  readonly question: string
}

/** What a belief rests on, as a tree: each step is asked for when it is opened. */
export function Derivation({ of: { id, derivation }, question }: DerivationProps) {
  const outside = derivation.sources.filter(({ external_ref }) => external_ref !== null)
  return (
    <div>
      <p>
        By {derivation.type}
        {derivation.method_description !== null && `: ${derivation.method_description}`}
        {derivation.confidence_rationale !== null && ` (${derivation.confidence_rationale})`}
      </p>
      <Sources id={id} question={question} path={[id]} />
      {outside.length > 0 && (
        <ul class="beliefs-tree">
          {outside.map(({ external_ref, contribution_type }) => (
            <li key={external_ref}>
              {external_ref} <span class="quiet small">{contribution_type}, outside of the store</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

interface SourcesProps {
  readonly id: string
  readonly question: string
  /** Ids from the belief down to here: what is among them is not gone into again. */
  readonly path: readonly string[]
  /** The version that the step above named: another of the same id has other sources. */
  readonly named?: ChainLink
}

function Sources({ id, question, path, named }: SourcesProps) {
  const { value, error } = useAnswer<DerivationChain>('beliefs.derivation', { belief_id: id, max_depth: 1 })
  if (error !== null) return <Failure error={error} />
  if (value === null) return <Busy what="Following what it rests on" />
  const [self, ...sources] = value.chain
  const isOther = named !== undefined && self?.created_at !== named.created_at
  if (isOther || sources.length === 0) return <p class="quiet small">It names no belief that you may see.</p>
  return (
    <ul class="beliefs-tree">
      {sources.map(link => (
        <Source key={link.belief_id} link={link} question={question} path={path} />
      ))}
    </ul>
  )
}

interface SourceProps {
  readonly link: ChainLink
  readonly question: string
  readonly path: readonly string[]
}

function Source({ link, question, path }: SourceProps) {
  const [isOpen, setOpen] = useState(false)
  const { belief_id: id, content_preview, contribution_type, derivation_type, overall } = link
  return (
    <li>
      <a href={beliefAddress([id], question)}>{content_preview}</a>{' '}
      <span class="quiet small">
        {contribution_type}, {derivation_type}, confidence {shown(overall)}
      </span>
      {!path.includes(id) && (
        <details open={isOpen} onToggle={event => setOpen(event.currentTarget.open)}>
          <summary class="small">What that rests on</summary>
          {isOpen && <Sources id={id} question={question} path={[...path, id]} named={link} />}
        </details>
      )}
    </li>
  )
}

/** Where the trust part of a score comes from. Trust between other agents is shown only as far as the viewer may know it. */
function TrustReasons({ of: trust }: { readonly of: TrustPart }) {
  return (
    <div>
      <h3>Whose trust that is</h3>
      <p>{sentence(trust)}</p>
      {trust.shared && <p>It came through a federation: trust in it is {trust.shared.band}, and no more is shown.</p>}
      {trust.direct && !trust.direct.distrusted && (
        <dl class="beliefs-facts">
          <dt>stated</dt>
          <dd>{score(trust.direct.level)}</dd>
          <dt>for the domains asked about</dt>
          <dd>{score(trust.direct.base)}</dd>
          <dt>since it was last used</dt>
          <dd>{count(Math.round(trust.direct.days_since_use))} days</dd>
          <dt>counts now</dt>
          <dd>{score(trust.direct.value)}</dd>
        </dl>
      )}
    </div>
  )
}

function sentence({ kind, of, direct, transitive, shared }: TrustPart): string {
  const { sources, band } = transitive ?? shared ?? { sources: 'some', band: 'rounded' }
  const whom = of === 'holder' ? 'the holder' : 'the federation as a whole'
  switch (kind) {
    case 'self':
      return 'The requester holds the belief, and trust in oneself is 1.'
    case 'direct':
      return direct?.distrusted
        ? `The requester has stated distrust in ${whom}, and that ends every other way.`
        : `The requester has stated trust in ${whom}; it fades while it is not used.`
    case 'transitive':
      return `The requester has stated nothing about ${whom}. Trust comes through ${sources} of those it trusts, and is ${band}.`
    case 'reputation':
      return `Nobody whom the requester trusts knows ${whom}: reputation counts.`
    case 'default':
      return `Nothing is known of ${whom}: a stranger.`
  }
}

interface StandingReasonsProps {
  readonly id: string
  readonly question: string
}

/** Why a belief has its rank for a question, whose trust it rests on, and what would raise it. */
export function StandingReasons({ id, question }: StandingReasonsProps) {
  const { value, error } = useAnswer<Standing>('beliefs.explain', {
    belief_id: id,
    query: questionOf(question, '', 10),
  })
  if (error !== null) return <Failure error={error} />
  if (value === null) return <Busy what="Asking why" />
  const { summary, explanation, hints = [] } = value
  return (
    <div class="stack">
      <p>{summary}</p>
      {explanation !== undefined && (
        <>
          <ExplanationTree tree={treeOf(explanation)} score={explanation.final} />
          <TrustReasons of={explanation.trust} />
        </>
      )}
      {hints.length > 0 && (
        <div>
          <h3>What would lift it</h3>
          <ul>
            {hints.map(({ dimension, current, target, rank }) => (
              <li key={dimension}>
                {plain(dimension)} at {score(target)} instead of {current === null ? 'not known' : score(current)}:
                number {rank}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  )
}

function treeOf({ semantic, confidence, trust, recency }: Explained): Explanation {
  const words = semantic.matched_terms
  const matched = words.length === 0 ? undefined : `says ${words.join(', ')}`
  return node('score', 'sum', [
    part('meaning', semantic, matched),
    part('confidence', confidence),
    part('trust', trust, trust.kind),
    part('recency', recency, `${Math.round(recency.age_days)} days old`),
  ])
}

function part(
  label: string,
  of: { readonly value: number | null; readonly weight: number },
  note?: string,
): Explanation {
  if (of.value === null) return leaf(label, 0, 'not asked for')
  return node(label, 'product', [leaf('value', of.value, note), leaf('weight', of.weight)])
}

interface TimelineProps {
  /** Versions, newest first. */
  readonly history: readonly Belief[]
}

interface Span {
  readonly from: number
  readonly to: number
}

/** What was held when: each version with the time it was the current one, and the time for which it says to be valid. */
function Timeline({ history }: TimelineProps) {
  const now = Date.now()
  const { from, to } = rangeOf(history, now)
  const [asOf, setAsOf] = useState(now)
  const share = (at: number): string => `${(100 * (Math.min(to, Math.max(from, at)) - from)) / (to - from)}%`
  const bar = (span: Span) => ({ left: share(span.from), right: `calc(100% - ${share(span.to)})` })
  return (
    <div class="beliefs-timeline">
      <div class="beliefs-tracks" aria-hidden="true">
        {history.map((belief, at) => (
          <div key={belief.id} class="beliefs-track">
            <span class="beliefs-valid" style={bar(validOf(belief, to))} />
            <span class="beliefs-held" style={bar(heldOf(history, at, to))} />
            <span class="beliefs-version">{belief.version}</span>
          </div>
        ))}
        <span class="beliefs-moment" style={{ left: share(asOf) }} />
      </div>
      <input
        type="range"
        min={from}
        max={to}
        step={3_600_000}
        value={asOf}
        aria-label="As of"
        aria-valuetext={day(iso(asOf))}
        onInput={event => setAsOf(event.currentTarget.valueAsNumber)}
      />
      <p class="row small quiet beliefs-ends" aria-hidden="true">
        <span>{day(iso(from))}</span>
        <span>{day(iso(to))}</span>
      </p>
      <p role="status">{stateAt(history, asOf)}</p>
      <p class="small quiet">
        <i class="beliefs-key-held" aria-hidden="true" /> held <i class="beliefs-key-valid" aria-hidden="true" /> said
        to be valid
      </p>
      <div class="table-scroll">
        <table>
          <caption class="visually-hidden">Versions</caption>
          <thead>
            <tr>
              <th scope="col">Version</th>
              <th scope="col">Held</th>
              <th scope="col">Valid</th>
              <th scope="col">Says</th>
            </tr>
          </thead>
          <tbody>
            {history.map((belief, at) => (
              <tr key={belief.id}>
                <td>{belief.version}</td>
                <td>{`${day(belief.created_at)} – ${at === 0 ? 'now' : day(history[at - 1]?.created_at ?? '')}`}</td>
                <td>{validity(belief)}</td>
                <td class="text">{contentOf(belief)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}

function stateAt(history: readonly Belief[], at: number): string {
  const when = `On ${day(iso(at))}`
  const held = history.find(({ created_at }) => Date.parse(created_at) <= at)
  if (held === undefined) return `${when} nothing of this was held yet.`
  if (held.deleted_at !== null) return `${when} it was deleted.`
  const { from, to } = validOf(held, Number.POSITIVE_INFINITY)
  const isValid = from <= at && at < to
  return `${when} version ${held.version} was held, and ${isValid ? 'was valid' : 'was not valid'}: ${held.content}`
}

function validOf({ valid_from, valid_until }: Belief, end: number): Span {
  return { from: Date.parse(valid_from), to: valid_until === null ? end : Date.parse(valid_until) }
}

/** Until the next version was written. */
function heldOf(history: readonly Belief[], at: number, end: number): Span {
  const next = history[at - 1]
  const from = Date.parse(history[at]?.created_at ?? '')
  return { from, to: next === undefined ? end : Date.parse(next.created_at) }
}

/** With a little room at both ends. */
function rangeOf(history: readonly Belief[], now: number): Span {
  const times = history.flatMap(({ valid_from, valid_until, created_at }) =>
    [valid_from, valid_until ?? valid_from, created_at].map(time => Date.parse(time)),
  )
  const from = Math.min(now, ...times)
  const to = Math.max(now, ...times)
  const room = Math.max(86_400_000, (to - from) * 0.03)
  return { from: from - room, to: to + room }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}

interface BeliefPageProps {
  readonly id: string
  readonly question: string
}

export function BeliefPage({ id, question }: BeliefPageProps) {
  const { value, error, isLoading } = useAnswer<Got>('beliefs.get', { belief_id: id, include_superseded: true })
  return (
    <div class="stack beliefs">
      <p>
        <a href={beliefAddress([], question)}>← {question === '' ? 'All beliefs' : `Beliefs for “${question}”`}</a>
      </p>
      {error !== null && <Failure error={error} />}
      {value === null && isLoading && <Busy what="Reading the belief" />}
      {value !== null && <Page got={value} question={question} />}
    </div>
  )
}

function Page({
  got: { belief, source, history = [belief] },
  question,
}: {
  readonly got: Got
  readonly question: string
}) {
  return (
    <>
      <h1 class="beliefs-content">{contentOf(belief)}</h1>
      <Facts belief={belief} from={sourceName(source)} />
      <div class="split">
        <section class="card" aria-labelledby="beliefs-sureness">
          <h2 id="beliefs-sureness">How sure it is</h2>
          <Confidence of={belief.confidence} />
        </section>
        <section class="card" aria-labelledby="beliefs-origin">
          <h2 id="beliefs-origin">What it rests on</h2>
          <Derivation of={belief} question={question} />
        </section>
      </div>
      <section class="card" aria-labelledby="beliefs-times">
        <h2 id="beliefs-times">What held when</h2>
        <Timeline key={belief.id} history={history} />
      </section>
      {question !== '' && (
        <section class="card" aria-labelledby="beliefs-standing">
          <h2 id="beliefs-standing">Its place for “{question}”</h2>
          <StandingReasons id={belief.id} question={question} />
        </section>
      )}
      <section class="card" aria-labelledby="beliefs-against">
        <h2 id="beliefs-against">What speaks against it</h2>
        <Contradictions id={belief.id} question={question} />
      </section>
    </>
  )
}

const SEEN_BY = { public: 'everybody', private: 'its holder alone' } as const

function Facts({ belief, from }: { readonly belief: Belief; readonly from: string }) {
  const { id, version, visibility, federation_ids, domains, created_at } = belief
  return (
    <dl class="beliefs-facts">
      <dt>Held by</dt>
      <dd>{holderOf(belief)}</dd>
      <dt>Seen by</dt>
      <dd>
        {visibility === 'federated' ? `members of ${federation_ids.join(', ')}` : SEEN_BY[visibility]}, here from {from}
      </dd>
      <dt>Domains</dt>
      <dd>{domains.length === 0 ? 'none named' : domains.join(', ')}</dd>
      <dt>Version</dt>
      <dd>
        {version}, written {moment(created_at)}, <code>{id}</code>
      </dd>
    </dl>
  )
}
