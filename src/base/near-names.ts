/** Names spelled like a given one, for "did you mean". */
import { editDistance } from './edit-distance.ts'

/** Those of `known` that begin with the name, or can be made from it in at most a third of its letters; nearest first. */
export function nearNames(name: string, known: readonly string[], most = 3): readonly string[] {
  if (name.length === 0 || name.length > 80) return []
  const allowed = Math.max(1, Math.floor(name.length / 3))
  return known
    .map(candidate => ({ candidate, edits: candidate.startsWith(name) ? 0 : editDistance(name, candidate, allowed) }))
    .filter(({ edits }) => edits <= allowed)
    .sort((a, b) => a.edits - b.edits || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, most)
    .map(({ candidate }) => candidate)
}
