import { useState } from 'preact/hooks'
import type { Belief } from '../../../../src/lenses/beliefs/model.ts'
import { day } from '../../parts/format.ts'
import { contentOf, validity } from './words.ts'

export interface TimelineProps {
  /** Versions, newest first. */
  readonly history: readonly Belief[]
}

interface Span {
  readonly from: number
  readonly to: number
}

/** What was held when: each version with the time it was the current one, and the time for which it says to be valid. */
export function Timeline({ history }: TimelineProps) {
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
