/** Answers that are read value by value. */
import { oneLine } from './style.ts'

/** A value a line; what has parts of its own as JSON, of whose values `told` may make others. */
export function fieldsText(
  answer: Readonly<Record<string, unknown>>,
  told?: (name: string, value: unknown) => unknown,
): string {
  const width = Math.max(...Object.keys(answer).map(name => name.length))
  const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value, told))
  return Object.entries(answer)
    .map(([name, value]) => `${name.padEnd(width)}  ${oneLine(shown(value))}\n`)
    .join('')
}
