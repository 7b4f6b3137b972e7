/** Prints an answer in the form that was asked for. */
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
