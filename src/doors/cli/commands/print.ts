/** Prints an answer in the form that was asked for. */
import { type CommonFlags, wantsJson } from '../flags.ts'
import { write, writeJson, writeStyled } from '../io.ts'
import { type Style, styleOf } from '../render/style.ts'
import type { Cli } from '../run.ts'

export interface Forms {
  table(style: Style): string
  /** Where there is none, Markdown is the table's text. */
  md?(): string
}

export const PLAIN: Style = { bold: same, dim: same, mark: same, good: same, bad: same }

export async function print(cli: Cli, flags: CommonFlags, value: unknown, forms: Forms): Promise<void> {
  const { stdout } = cli.io
  switch (wantsJson(flags) ? 'json' : (flags.format ?? 'table')) {
    case 'json':
      return writeJson(stdout, value, 2)
    case 'md':
      return write(stdout, forms.md?.() ?? forms.table(PLAIN))
    case 'table':
      return writeStyled(stdout, forms.table(styleOf(cli.io)))
  }
}

function same(text: string): string {
  return text
}
