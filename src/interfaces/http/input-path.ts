/** Fields of an input that nobody has checked, by path such as `options.stream`. */
import { isRecord } from '../../base/record.ts'

/** Undefined: there is no such field. */
export function valueAt(input: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), input)
}

/** A copy that has the value there. What is no object where one should be is left for the operation to refuse. */
export function withValueAt(input: unknown, path: string, value: unknown): unknown {
  const [name = '', ...rest] = path.split('.')
  const object = input ?? {}
  if (!isRecord(object)) return input
  return { ...object, [name]: rest.length === 0 ? value : withValueAt(object[name], rest.join('.'), value) }
}
