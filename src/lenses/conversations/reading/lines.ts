/** Lines of a text that comes in pieces. A line ends with LF or CR LF; the last may end with neither. */

export interface Line {
  /** From 1. */
  readonly number: number
  readonly text: string
  /** Whether its end was seen: the last line of a file that was cut has none. */
  readonly isEnded: boolean
  /** Characters beyond `most`, which `text` does not hold. */
  readonly dropped: number
}

/** `most`: characters of one line that are kept. */
export async function* linesOf(
  pieces: AsyncIterable<string> | Iterable<string>,
  most = Number.POSITIVE_INFINITY,
): AsyncIterable<Line> {
  let number = 1
  let parts: string[] = []
  let length = 0
  let dropped = 0
  const add = (text: string): void => {
    const room = Math.max(0, most - length)
    if (room > 0 && text !== '') parts.push(text.slice(0, room))
    length += Math.min(room, text.length)
    dropped += Math.max(0, text.length - room)
  }
  const take = (isEnded: boolean): Line => {
    const text = parts.length === 1 ? (parts[0] as string) : parts.join('')
    const line = { number: number++, text: text.endsWith('\r') ? text.slice(0, -1) : text, isEnded, dropped }
    parts = []
    length = 0
    dropped = 0
    return line
  }
  for await (const piece of pieces) {
    let start = 0
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', start)) {
      add(piece.slice(start, end))
      yield take(true)
      start = end + 1
    }
    add(piece.slice(start))
  }
  if (length > 0 || dropped > 0) yield take(false)
}
