/** Draws a graph for reading: as lines of text, or in the language of Mermaid. */
import type { Concept } from '../concepts.ts'

interface DrawnEdge {
  readonly source: number
  readonly target: number
  readonly relation: string
}

type DrawnNode = Pick<Concept, 'id' | 'name' | 'type'>

export function drawAscii(nodes: readonly DrawnNode[], edges: readonly DrawnEdge[]): string {
  if (nodes.length === 0) return '(empty graph)'
  const byId = new Map(nodes.map(node => [node.id, node]))
  return nodes
    .flatMap(node => {
      const ways = edges.filter(({ source }) => source === node.id)
      const lines = ways.map(({ relation, target }, at) => {
        const branch = at === ways.length - 1 ? '└──' : '├──'
        return `${branch} ${oneLine(relation)} → ${labelOf(byId.get(target))}`
      })
      return [labelOf(node), ...(lines.length === 0 ? ['└── (no outgoing edges)'] : lines)]
    })
    .join('\n')
}

export function drawMermaid(nodes: readonly DrawnNode[], edges: readonly DrawnEdge[]): string {
  return [
    'graph TD',
    ...nodes.map(({ id, name, type }) => `  ${id}["${escaped(`${name} (${type})`)}"]`),
    ...edges.map(({ source, target, relation }) => `  ${source} -->|${escaped(relation)}| ${target}`),
  ].join('\n')
}

function labelOf(node: DrawnNode | undefined): string {
  return node === undefined ? '' : `[${oneLine(node.name)}] ${oneLine(node.type)}`
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ')
}

/** Mermaid knows entities, named by `#`. */
function escaped(text: string): string {
  return oneLine(text).replace(/[#"|<>&`]/gu, sign => `#${sign.codePointAt(0)};`)
}
