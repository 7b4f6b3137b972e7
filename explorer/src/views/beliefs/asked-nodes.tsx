import type { NodeCoverage, QueryResult } from '../../../../src/lenses/beliefs/model.ts'
import { count, counted, moment, timeOfDay } from '../../parts/format.ts'
import type { PartError } from './wire.ts'

/** Which other nodes were asked, what each gave or why it gave nothing, and when. */
export function AskedNodes({ of: { coverage, errors, as_of, stale } }: { readonly of: QueryResult }) {
  const { nodes = [] } = coverage
  if (nodes.length === 0) return null
  const answered = nodes.filter(({ responded }) => responded).length
  return (
    <section class="card" aria-labelledby="beliefs-nodes">
      <h2 id="beliefs-nodes">Who answered</h2>
      <p class="quiet small">
        {count(answered)} of {counted(nodes.length, 'node')} that {nodes.length === 1 ? 'was' : 'were'} asked beside
        this one{stale && '; what they say is older than it should be, and is asked for anew'}.
      </p>
      <div class="table-scroll">
        <table class="beliefs-nodes">
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">Asked for</th>
              <th scope="col">Gave</th>
              <th scope="col">When</th>
            </tr>
          </thead>
          <tbody>
            {nodes.map(node => (
              <Row key={`${node.node} ${node.federation}`} of={node} error={errorOf(errors, node)} asOf={as_of} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

interface RowProps {
  readonly of: NodeCoverage
  readonly error: PartError | undefined
  readonly asOf: string
}

function Row({ of: { node, federation, responded, results, more, answered_at, elapsed_ms }, error, asOf }: RowProps) {
  return (
    <tr>
      <th scope="row">{node}</th>
      <td>{federation === null ? 'what is public' : `federation ${federation}`}</td>
      <td>
        {responded && `${counted(results, 'belief')}${more ? ', and has more' : ''}`}
        {responded && error !== undefined && '; '}
        {error !== undefined && (
          <span class="warn" title={error.code}>
            {error.message}
          </span>
        )}
      </td>
      <td>
        {answered_at === null ? 'given up' : <When at={answered_at} asOf={asOf} />} after {count(elapsed_ms)} ms
      </td>
    </tr>
  )
}

/** The day goes without saying where it is that of the answer. */
function When({ at, asOf }: { readonly at: string; readonly asOf: string }) {
  const isSameDay = at.slice(0, 10) === asOf.slice(0, 10)
  return (
    <time dateTime={at} title={at}>
      {isSameDay ? timeOfDay(at) : moment(at)}
    </time>
  )
}

/** A node that is asked for several federations may fail for one of them. */
function errorOf(errors: QueryResult['errors'], { node, kind, federation }: NodeCoverage): PartError | undefined {
  // The cast: errors are those of `src/lenses/beliefs/nodes/gathered/gather-nodes.ts`, or bear no node.
  return (errors as unknown as readonly PartError[]).find(
    error =>
      error.node === node && error.source?.kind === kind && (federation === null || error.source.id === federation),
  )
}
