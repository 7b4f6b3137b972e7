import { count } from '../../parts/format.ts'
import type { Picture } from './drawing.ts'
import { colourOf, linkColourOf, relationName } from './kinds.ts'

/** The kinds of concepts and of links that are drawn, with how many there are of each. */
export function Legend({ nodes, links }: Picture) {
  const kinds = counts(nodes.map(({ type }) => type))
  const relations = counts(links.map(({ relation }) => relation))
  return (
    <div class="graph-legend">
      <ul aria-label="Kinds of concepts">
        {kinds.map(([kind, many]) => (
          <li key={kind}>
            <i class="graph-dot" aria-hidden="true" style={{ background: colourOf(kind) }} />
            {kind} {count(many)}
          </li>
        ))}
      </ul>
      <ul aria-label="Kinds of links">
        {relations.map(([relation, many]) => (
          <li key={relation}>
            <i class="graph-dash" aria-hidden="true" style={{ background: linkColourOf(relation) }} />
            {relationName(relation)} {count(many)}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Most first. */
function counts(names: readonly string[]): readonly (readonly [name: string, many: number])[] {
  return [...Map.groupBy(names, name => name)]
    .map(([name, all]) => [name, all.length] as const)
    .sort((a, b) => b[1] - a[1])
}
