/** Finds names with a spelling similar to a given one, for "did you mean" suggestions. */

// Edit distance of two texts: the number of letters added, left out or replaced, or swapped with a neighbour, that turn one text into the
// other.

const rows: readonly number[][] = [[], [], []]

/**
 * Edit distance (optimal string alignment) over UTF-16 units; `most + 1` if the distance is greater than `most`. Takes at most `a.length ×
 * b.length` steps, and stops as soon as the distance must exceed `most`.
 *
 *     editDistance('emial', 'email', 2)  // 1
 */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let [before, last, next] = rows as [number[], number[], number[]]
  for (let j = 0; j <= b.length; j++) last[j] = j
  for (let i = 1; i <= a.length; i++) {
    const unit = a.charCodeAt(i - 1)
    next[0] = i
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const other = b.charCodeAt(j - 1)
      let edits = (last[j - 1] as number) + (unit === other ? 0 : 1)
      edits = Math.min(edits, (last[j] as number) + 1, (next[j - 1] as number) + 1)
      if (i > 1 && j > 1 && unit === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === other) {
        edits = Math.min(edits, (before[j - 2] as number) + 1)
      }
      next[j] = edits
      if (edits < least) least = edits
    }
    // A swap of neighbouring letters uses the table row before the previous one, so the computation may stop early only when two successive
    // rows exceed the maximum distance.
    if (least > most && Math.min(...last.slice(0, b.length + 1)) > most) return most + 1
    ;[before, last, next] = [last, next, before]
  }
  return Math.min(last[b.length] as number, most + 1)
}

/** The names in `known` that begin with `name`, or differ from it in at most a third of its letters; nearest first. */
export function nearNames(name: string, known: readonly string[], most = 3): readonly string[] {
  if (name.length === 0 || name.length > 80) return []
  const allowed = Math.max(1, Math.floor(name.length / 3))
  return nearest(known, most, allowed, known => (known.startsWith(name) ? 0 : editDistance(name, known, allowed)))
}

/**
 * Limits on suggestions for mistyped ids: an id longer than `LONGEST_ID` UTF-16 units gets none, and an id more than `MAX_EDITS` edits away
 * is not suggested.
 */
const LONGEST_ID = 200
const MAX_EDITS = 6
/**
 * Minimum length of a mistyped id for which other ids that contain it anywhere are suggested; a shorter text occurs in too many ids, so
 * only ids that begin with it are suggested.
 */
const SHORTEST_PART = 4

/**
 * The ids in `known` that are similar to a mistyped id, nearest first, ignoring letter case. Similar is an id that contains the mistyped
 * text (or begins with it, if it is short), an id within a few edits of it, and a path whose last segment is within a few edits of the last
 * segment of the mistyped one.
 */
export function nearIds(name: string, known: readonly string[], most = 3): readonly string[] {
  const wanted = name.toLowerCase()
  if (wanted.length < 2 || wanted.length > LONGEST_ID) return []
  const allowed = Math.min(MAX_EDITS, Math.max(1, Math.floor(wanted.length / 3)))
  const last = lastSegment(wanted)
  const allowedLast = Math.min(MAX_EDITS, Math.floor(last.length / 4))
  return nearest(known, most, allowed, known => {
    const id = known.toLowerCase()
    if (wanted.length >= SHORTEST_PART ? id.includes(wanted) : id.startsWith(wanted)) return 0
    const whole = editDistance(wanted, id, allowed)
    if (!id.includes('/')) return whole
    const segment = editDistance(last, lastSegment(id), allowedLast)
    return segment > allowedLast ? whole : Math.min(whole, segment)
  })
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function nearest(
  known: readonly string[],
  most: number,
  allowed: number,
  edits: (known: string) => number,
): readonly string[] {
  return known
    .map(candidate => ({ candidate, edits: edits(candidate) }))
    .filter(({ edits }) => edits <= allowed)
    .sort((a, b) => a.edits - b.edits || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, most)
    .map(({ candidate }) => candidate)
}

/** The end of an error message that suggests similar names: `; did you mean a or b?`, or an empty text if there is no suggestion. */
export function didYouMean(near: readonly string[]): string {
  return near.length > 0 ? `; did you mean ${near.join(' or ')}?` : ''
}
