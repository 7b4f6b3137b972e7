/** Answers that come piece by piece, as JSON lines. Waits while the reader is slower. */
import type { JsonObject } from '../../../base/canonical.ts'
import { write } from '../io.ts'
import type { Cli } from '../run.ts'

export async function printPieces(cli: Cli, pieces: AsyncIterable<JsonObject>): Promise<void> {
  for await (const piece of pieces) await printLine(cli, piece)
}

/** The members of each piece's list of that name. Resolves to what the pieces together say beside it. */
export async function printMembers(cli: Cli, pieces: AsyncIterable<JsonObject>, list: string): Promise<JsonObject> {
  let whole: JsonObject = {}
  for await (const { [list]: members, ...rest } of pieces) {
    for (const member of members as readonly unknown[]) await printLine(cli, member)
    whole = { ...whole, ...rest }
  }
  return whole
}

async function printLine(cli: Cli, value: unknown): Promise<void> {
  await write(cli.io.stdout, `${JSON.stringify(value)}\n`)
}
