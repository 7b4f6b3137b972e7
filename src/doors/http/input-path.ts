/** Fields of an input that nobody has checked, by path such as `options.stream`. */

/** Undefined: there is no such field. */
export function valueAt(input: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), input)
}

/** A copy that has the value there. What is no object where one should be is left for the operation to refuse. */
export function withValueAt(input: unknown, path: string, value: unknown): unknown {
  const [name = '', ...rest] = path.split('.')
  const object = input ?? {}
  if (!isObject(object)) return input
  return { ...object, [name]: rest.length === 0 ? value : withValueAt(object[name], rest.join('.'), value) }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
