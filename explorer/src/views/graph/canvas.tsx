import Graph from 'graphology'
import { useEffect, useRef, useState } from 'preact/hooks'
import Sigma from 'sigma'
import { theme } from '../../shell/session.ts'
import { colourOf, computedColour, firstPlace, keyOf, layOut, linkColourOf, type Picture } from './drawing.ts'

export interface CanvasProps {
  readonly picture: Picture
  readonly selected: number | null
  readonly onSelect: (id: number) => void
}

/** The picture for eyes and pointers. The list shows the same, which is why the picture is hidden from screen readers. */
export function Canvas({ picture, selected, onSelect }: CanvasProps) {
  const place = useRef<HTMLDivElement>(null)
  const held = useRef<{ readonly sigma: Sigma; readonly graph: Graph } | null>(null)
  const select = useRef(onSelect)
  select.current = onSelect
  const [cannot, setCannot] = useState(false)
  const [isDark, setDark] = useState(prefersDark)

  useEffect(() => {
    const media = matchMedia('(prefers-color-scheme: dark)')
    const follow = (): void => setDark(prefersDark())
    media.addEventListener('change', follow)
    return () => media.removeEventListener('change', follow)
  }, [])

  useEffect(() => {
    if (place.current === null) return
    const graph = new Graph({ multi: true, type: 'directed' })
    let sigma: Sigma
    try {
      sigma = new Sigma(graph, place.current, SETTINGS)
    } catch {
      // No WebGL here: the list does.
      setCannot(true)
      return
    }
    sigma.on('clickNode', ({ node }) => select.current(Number(node)))
    held.current = { sigma, graph }
    return () => {
      held.current = null
      sigma.kill()
    }
  }, [])

  useEffect(() => {
    if (held.current === null) return
    bring(held.current.graph, picture)
    return layOut(held.current.graph)
  }, [picture])

  const colours = `${theme.value} ${isDark}`
  useEffect(() => {
    if (held.current === null || place.current === null) return
    paint(held.current, place.current, selected)
  }, [picture, selected, colours])

  if (cannot)
    return <p class="quiet">This browser cannot draw the graph here (no WebGL). The list below says the same.</p>
  return <div ref={place} class="graph-canvas" aria-hidden="true" />
}

const SETTINGS = {
  allowInvalidContainer: true,
  defaultEdgeType: 'arrow',
  labelDensity: 0.6,
  labelRenderedSizeThreshold: 5,
  labelSize: 12,
  stagePadding: 48,
  zIndex: true,
  minCameraRatio: 0.05,
  maxCameraRatio: 4,
} as const

/** What stays keeps its place. */
function bring(graph: Graph, { nodes, links }: Picture): void {
  const wanted = new Set(nodes.map(({ id }) => String(id)))
  for (const node of graph.nodes()) if (!wanted.has(node)) graph.dropNode(node)
  graph.clearEdges()
  for (const [at, { id, name, type, isMatch, degree }] of nodes.entries()) {
    const facts = { label: name, kind: type, isMatch, size: (isMatch ? 6 : 4) + Math.min(6, Math.sqrt(degree)) }
    if (graph.hasNode(id)) graph.mergeNodeAttributes(id, facts)
    else graph.addNode(id, { ...facts, ...firstPlace(at, standing(graph, links, id)) })
  }
  for (const link of links) {
    graph.addDirectedEdgeWithKey(keyOf(link), link.source, link.target, { relation: link.relation, size: 1.2 })
  }
}

function standing(graph: Graph, links: Picture['links'], id: number): { x: number; y: number } | null {
  for (const { source, target } of links) {
    const other = source === id ? target : target === id ? source : null
    if (other === null || !graph.hasNode(other)) continue
    return { x: graph.getNodeAttribute(other, 'x') as number, y: graph.getNodeAttribute(other, 'y') as number }
  }
  return null
}

/** What is chosen and its links stand out. */
function paint({ sigma, graph }: { sigma: Sigma; graph: Graph }, place: HTMLElement, selected: number | null): void {
  const computed = new Map<string, string>()
  const colour = (name: string): string => {
    const known = computed.get(name) ?? computedColour(name, place)
    computed.set(name, known)
    return known
  }
  const chosen = selected === null ? null : String(selected)
  graph.forEachNode((node, { kind }) => {
    graph.mergeNodeAttributes(node, { color: colour(colourOf(kind as string)), highlighted: node === chosen })
  })
  graph.forEachEdge((edge, { relation }, source, target) => {
    const isChosen = source === chosen || target === chosen
    const full = colour(linkColourOf(relation as string))
    graph.mergeEdgeAttributes(edge, {
      color: isChosen ? full : faint(full),
      size: isChosen ? 2.4 : 1.2,
      zIndex: isChosen ? 1 : 0,
    })
  })
  sigma.setSetting('labelColor', { color: colour('var(--text)') })
  sigma.setSetting('defaultDrawNodeHover', (context, data, settings) => {
    drawChosen(context, data, settings.labelSize, { ground: colour('var(--raised)'), text: colour('var(--text)') })
  })
}

/** Of `rgb(…)`. */
function faint(colour: string): string {
  return colour.replace('rgb(', 'rgba(').replace(')', ', 0.65)')
}

interface Shown {
  readonly x: number
  readonly y: number
  readonly size: number
  readonly label: string | null
}

/** The renderer's own label of a chosen node is white in both themes. */
function drawChosen(
  context: CanvasRenderingContext2D,
  { x, y, size, label }: Shown,
  labelSize: number,
  { ground, text }: { readonly ground: string; readonly text: string },
): void {
  context.font = `600 ${labelSize}px sans-serif`
  const width = label === null ? 0 : context.measureText(label).width + 8
  context.fillStyle = ground
  context.beginPath()
  context.arc(x, y, size + 3, 0, Math.PI * 2)
  context.rect(x, y - labelSize, size + 4 + width, labelSize * 2)
  context.fill()
  context.strokeStyle = text
  context.beginPath()
  context.arc(x, y, size + 2, 0, Math.PI * 2)
  context.stroke()
  if (label === null) return
  context.fillStyle = text
  context.fillText(label, x + size + 5, y + labelSize / 3)
}

function prefersDark(): boolean {
  return matchMedia('(prefers-color-scheme: dark)').matches
}
