/**
 * Cases of calls as folders: `setup.json` (what to call first, may be missing), `params.json` and `result.json`, in which
 * texts such as `<number>` stand for any value of their sort.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A call of the lens by path, or an operation of the engine. */
export type SetupStep =
  | { readonly path: string; readonly params?: unknown }
  | { readonly operation: string; readonly input: unknown }

export interface FixtureCase {
  readonly name: string
  readonly setup: readonly SetupStep[]
  readonly params: unknown
  readonly result: unknown
}

/** By name. */
export function readCases(folder: string): readonly FixtureCase[] {
  const names = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isDirectory())
  return names
    .map(({ name }) => {
      const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, name, file), 'utf8'))
      const setup = existsSync(join(folder, name, 'setup.json')) ? (read('setup.json') as readonly SetupStep[]) : []
      return { name, setup, params: read('params.json'), result: read('result.json') }
    })
    .sort((a, b) => Number(a.name > b.name) - Number(a.name < b.name))
}

/** Where `actual` is not what was expected, one line each; none when it is. */
export function differences(expected: unknown, actual: unknown, at = '$'): readonly string[] {
  if (typeof expected === 'string' && /^<[a-z]+(:\d+)?>$/.test(expected)) {
    return fits(expected, actual) ? [] : [`${at}: expected ${expected}, got ${JSON.stringify(actual)}`]
  }
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const length = expected.length === actual.length ? [] : [`${at}: ${actual.length} items, not ${expected.length}`]
    return [...length, ...expected.flatMap((item, i) => differences(item, actual[i], `${at}[${i}]`))]
  }
  if (isRecord(expected) && isRecord(actual)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(actual)])
    return [...names].flatMap(name => {
      if (!Object.hasOwn(actual, name)) return [`${at}.${name}: is missing`]
      if (!Object.hasOwn(expected, name)) return [`${at}.${name}: is too much`]
      return differences(expected[name], actual[name], `${at}.${name}`)
    })
  }
  return Object.is(expected, actual)
    ? []
    : [`${at}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`]
}

function fits(placeholder: string, value: unknown): boolean {
  switch (placeholder) {
    case '<timestamp>':
      return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)
    case '<number>':
      return typeof value === 'number' && Number.isFinite(value)
    case '<string>':
      return typeof value === 'string'
    case '<any>':
      return value !== undefined
    case '<array>':
      return Array.isArray(value)
    default: {
      const length = /^<array:(\d+)>$/.exec(placeholder)?.[1]
      return length !== undefined && Array.isArray(value) && value.length === Number(length)
    }
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
