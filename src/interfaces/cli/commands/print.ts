/** Prints an answer in the form that was asked for. */

import type { JsonObject } from '../../../base/canonical.ts'
import { QuerentError } from '../../../model/errors.ts'
import { type CommonFlags, wantsJson } from '../flags.ts'
import { write, writeJson, writeStyled } from '../io.ts'
import type { Print, Shown } from '../render/answer.ts'
import { PLAIN, styleOf } from '../render/style.ts'
import type { Cli } from '../run.ts'

export async function print<Answer>(
  { io }: Cli,
  flags: CommonFlags,
  value: Answer,
  text: Print<Answer>,
  input: Shown['input'] = {},
  isPaged = false,
): Promise<void> {
  const isMarkdown = flags.format === 'md'
  if (wantsJson(flags)) return writeJson(io.stdout, value, 2)
  const style = isMarkdown ? PLAIN : styleOf(io)
  const shown = {
    ...{ isMarkdown, style, width: io.stdout.columns, folder: io.workingFolder, flags: { ...flags }, input },
    hasMore: isPaged && io.stdout.isTTY === true && !('cursor' in flags),
  }
  return (isMarkdown ? write : writeStyled)(io.stdout, text(value, shown))
}

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
export function assertLines({ format }: CommonFlags): void {
  if (format === undefined || format === 'json') return
  const message = `--format: expected json, or none, got ${format}; with --stream results are JSON lines`
  throw new QuerentError('invalid_argument', message, { field: '--format', value: format, expected: 'json' })
}

async function printLine(cli: Cli, value: unknown): Promise<void> {
  await writeJson(cli.io.stdout, value)
}
