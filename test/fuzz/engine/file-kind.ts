/** Files: a name from a list, for the name decides who reads it, and a text. */
import type { Kind } from './kind.ts'
import { type TextOptions, textKind } from './text-kind.ts'

export interface NamedText {
  readonly name: string
  readonly text: string
}

export function fileKind(names: readonly string[], options: TextOptions): Kind<NamedText> {
  const texts = textKind(options)
  return {
    make: chance => ({ name: chance.pick(names), text: texts.make(chance) }),
    change: ({ name, text }, chance, other) => ({
      name: chance.oneIn(10) ? chance.pick(names) : name,
      text: texts.change(text, chance, other.text),
    }),
    *smaller({ name, text }) {
      for (const less of texts.smaller(text)) yield { name, text: less }
    },
    write: ({ name, text }) => ({ name, text }),
    read: written => {
      const { name, text } = written as { readonly [member in 'name' | 'text']?: unknown }
      if (typeof name !== 'string' || typeof text !== 'string') throw new Error('a file must be kept as {name, text}')
      return { name, text }
    },
  }
}
