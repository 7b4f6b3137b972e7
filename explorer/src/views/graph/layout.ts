/** Where nodes stand: forces, worked out a few steps a frame, so that the page never stops answering. */
import type Graph from 'graphology'
import forceAtlas2 from 'graphology-layout-forceatlas2'

const ROUNDS = 240
const ROUNDS_A_FRAME = 8

/** From where they stand now. Returns what ends it. Where motion is not wanted, only its end is shown. */
export function layOut(graph: Graph): () => void {
  const settings = { ...forceAtlas2.inferSettings(graph), gravity: 1.5, scalingRatio: 12, adjustSizes: true }
  if (graph.order < 2) return () => {}
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
    forceAtlas2.assign(graph, { iterations: ROUNDS, settings })
    return () => {}
  }
  let left = ROUNDS
  let frame = requestAnimationFrame(function step() {
    forceAtlas2.assign(graph, { iterations: ROUNDS_A_FRAME, settings })
    left -= ROUNDS_A_FRAME
    if (left > 0) frame = requestAnimationFrame(step)
  })
  return () => cancelAnimationFrame(frame)
}

/** Near what it is linked to and already stands somewhere, else on a spiral: forces start from distinct places. */
export function firstPlace(
  at: number,
  near: { readonly x: number; readonly y: number } | null,
): { readonly x: number; readonly y: number } {
  const angle = at * 2.39996 // the golden angle, in radians: no two points of the spiral lie on one ray
  const distance = near === null ? 4 * Math.sqrt(at + 1) : 2
  return { x: (near?.x ?? 0) + distance * Math.cos(angle), y: (near?.y ?? 0) + distance * Math.sin(angle) }
}
