/** Answers that come piece by piece, as JSON lines. Waits while the reader is slower. */
import type { JsonObject } from '../../../base/canonical.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { CommonFlags } from '../flags.ts'
import { writeJson } from '../io.ts'
import type { Cli } from '../run.ts'

export async function printPieces(cli: Cli, pieces: AsyncIterable<JsonObject>): Promise<void> {
  for await (const piece of pieces) await printLine(cli, piece)
}

/** The members of each piece's list of that name. Resolves to how many there were, and what the pieces together say beside them. */
export async function printMembers(
  cli: Cli,
  pieces: AsyncIterable<JsonObject>,
  list: string,
): Promise<{ readonly rest: JsonObject; readonly count: number }> {
  let whole: JsonObject = {}
  let count = 0
  for await (const { [list]: members, ...rest } of pieces) {
    for (const member of members as readonly unknown[]) await printLine(cli, member)
    count += (members as readonly unknown[]).length
    whole = joined(whole, rest)
  }
  return { rest: whole, count }
}

/** Of lists all is kept, of all else the last. */
function joined(before: JsonObject, piece: JsonObject): JsonObject {
  const lists = Object.entries(piece).flatMap(([name, value]) => {
    const known = before[name]
    return Array.isArray(known) && Array.isArray(value) ? [[name, [...known, ...value]] as const] : []
  })
  return { ...before, ...piece, ...Object.fromEntries(lists) }
}

/** Results that come one by one have one form. */
export function mustTakeLines({ format }: CommonFlags): void {
  if (format === undefined || format === 'json') return
  const message = `--format: expected json, or none, got ${format}; with --stream results are JSON lines`
  throw new QuerentError('invalid_argument', message, { field: '--format', value: format, expected: 'json' })
}

async function printLine(cli: Cli, value: unknown): Promise<void> {
  await writeJson(cli.io.stdout, value)
}
