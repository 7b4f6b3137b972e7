import type { Drawing, Node, Picture } from './drawing.ts'
import { colourOf, relationName } from './kinds.ts'

export interface ListProps {
  readonly drawing: Drawing
  readonly picture: Picture
  readonly selected: number | null
  readonly onSelect: (id: number) => void
  /** Opens what is closed, closes what is open. */
  readonly onToggle: (id: number) => void
  readonly onMore: (id: number) => void
}

/** The picture as a list: what was found, and below what is open its neighbours, each opened in one place. */
export function List({ drawing, picture, selected, onSelect, onToggle, onMore }: ListProps) {
  const byId = new Map(picture.nodes.map(node => [node.id, node]))
  const places = placesOf(drawing, byId)
  const row = (node: Node, under: number | null) => {
    const { id, name, type } = node
    const held = drawing.opened.get(id)
    const isOpenHere = held !== undefined && places.get(id) === under
    const missing = isOpenHere ? held.neighbours.filter(other => !byId.has(other.id)).length : 0
    return (
      <li key={id}>
        <span class="graph-row">
          <button
            type="button"
            class="graph-toggle"
            aria-expanded={held !== undefined}
            aria-label={`Neighbours of ${name}`}
            onClick={() => onToggle(id)}
          >
            <span aria-hidden="true">{held === undefined ? '+' : '−'}</span>
          </button>
          <button type="button" class="graph-name" aria-pressed={id === selected} onClick={() => onSelect(id)}>
            <i class="graph-dot" aria-hidden="true" style={{ background: colourOf(type) }} />
            {name}
          </button>
          <span class="quiet small">
            {type}
            {under !== null && ` · ${relationsBetween(picture, under, id)}`}
            {under === null && !node.isMatch && ' · neighbour'}
          </span>
        </span>
        {isOpenHere && (
          <ul>
            {held.neighbours.flatMap(other => byId.get(other.id) ?? []).map(other => row(other, id))}
            {held.neighbours.length === 0 && <li class="quiet small">Nothing links here, and it links to nothing.</li>}
            {missing > 0 && (
              <li>
                <button type="button" class="small" onClick={() => onMore(id)}>
                  Show more of {missing} that are left out
                </button>
              </li>
            )}
          </ul>
        )}
      </li>
    )
  }
  return (
    <ul class="graph-list" aria-label="Concepts">
      {drawing.found.flatMap(({ id }) => byId.get(id) ?? []).map(node => row(node, null))}
    </ul>
  )
}

/** Under which concept (null: under none) the neighbours of an open one are listed: where it is met first. */
function placesOf({ found, opened }: Drawing, byId: ReadonlyMap<number, Node>): ReadonlyMap<number, number | null> {
  const places = new Map<number, number | null>(found.map(({ id }) => [id, null]))
  for (const id of places.keys()) {
    for (const other of opened.get(id)?.neighbours ?? []) {
      if (byId.has(other.id) && !places.has(other.id)) places.set(other.id, id)
    }
  }
  return places
}

/** In words: what the upper one does to the lower one, or is done to by it. */
function relationsBetween({ links }: Picture, upper: number, lower: number): string {
  const words = links.flatMap(({ source, target, relation }) => {
    if (source === upper && target === lower) return [`→ ${relationName(relation)}`]
    return source === lower && target === upper ? [`← ${relationName(relation)}`] : []
  })
  return [...new Set(words)].join(', ')
}
