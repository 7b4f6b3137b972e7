import { useState } from 'preact/hooks'
import type { Belief, ChainLink, DerivationChain } from '../../../../src/lenses/beliefs/model.ts'
import { Busy } from '../../parts/busy.tsx'
import { Failure } from '../../parts/failure.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { shown } from './confidence.tsx'
import { beliefAddress } from './words.ts'

export interface DerivationProps {
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
