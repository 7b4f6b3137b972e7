/** Answers that come piece by piece, as JSON lines. */
import type { JsonObject } from '../../../base/canonical.ts'
import { write } from '../io.ts'
import type { Cli } from '../run.ts'

/** The last piece, which says how the answer ended; undefined: there was none. Waits while the reader is slower. */
export async function printLines(
  cli: Cli,
  pieces: AsyncIterable<JsonObject>,
  linesOf: (piece: JsonObject) => readonly unknown[] = piece => [piece],
): Promise<JsonObject | undefined> {
  let last: JsonObject | undefined
  for await (const piece of pieces) {
    last = piece
    for (const line of linesOf(piece)) await write(cli.io.stdout, `${JSON.stringify(line)}\n`)
  }
  return last
}
