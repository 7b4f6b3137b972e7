/** Reads the files that steer module resolution: package.json, tsconfig.json, jsconfig.json and go.mod. */
import { isRecord } from '../../../base/record.ts'
import type { ModuleSettings } from './concept.ts'

type Fields = Readonly<Record<string, unknown>>

/** Conditions within conditions; a file may nest them until no stack is deep enough to write it down again. */
const MAX_DEPTH = 10

/** Null for other files, and for one that is not JSON of the shape. */
export function moduleSettings(path: string, text: string): ModuleSettings | null {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (name === 'go.mod') return goSettings(text)
  const isCompiler = /^(?:ts|js)config(?:\..+)?\.json$/.test(name)
  if (!isCompiler && name !== 'package.json') return null
  const value = parse(text)
  if (value === null) return null
  return isCompiler ? compilerSettings(value) : packageSettings(value)
}

/** The path that imports of its packages begin with. */
function goSettings(text: string): ModuleSettings | null {
  const name = /^module[ \t]+"?([^\s"]+)/m.exec(text)?.[1]
  return name === undefined ? null : { kind: 'go', name }
}

function packageSettings(value: Fields): ModuleSettings {
  const entry = ['source', 'types', 'typings', 'module', 'main'].map(key => value[key]).filter(isText)
  return {
    kind: 'package',
    ...(isText(value['name']) ? { name: value['name'] } : {}),
    ...(entry.length > 0 ? { entry } : {}),
    ...(value['exports'] === undefined ? {} : { exports: shallow(value['exports'], MAX_DEPTH) }),
    ...(value['imports'] === undefined ? {} : { imports: shallow(value['imports'], MAX_DEPTH) }),
  }
}

function compilerSettings(value: Fields): ModuleSettings {
  const options = isRecord(value['compilerOptions']) ? value['compilerOptions'] : {}
  const paths = isRecord(options['paths']) ? options['paths'] : null
  const above = [value['extends']].flat().filter(isText)
  const beside = [value['references']].flat().map(one => (isRecord(one) ? one['path'] : null))
  const references = beside.filter(isText)
  return {
    kind: 'compiler',
    ...(isText(options['baseUrl']) ? { baseUrl: options['baseUrl'] } : {}),
    ...(paths === null
      ? {}
      : { paths: Object.fromEntries(Object.entries(paths).map(([key, to]) => [key, [to].flat().filter(isText)])) }),
    ...(above.length > 0 ? { extends: above } : {}),
    ...(references.length > 0 ? { references } : {}),
  }
}

/** JSON with comments and commas behind the last member, as these files have them. */
function parse(text: string): Fields | null {
  const plain = text
    .replace(/^\uFEFF/, '')
    .replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, part => (part.startsWith('"') ? part : ' '))
    .replace(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])/g, part => (part.startsWith('"') ? part : ''))
  try {
    const value: unknown = JSON.parse(plain)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

/** Without what is nested deeper. */
function shallow(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return null
  if (Array.isArray(value)) return value.map(one => shallow(one, depth - 1))
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shallow(one, depth - 1)]))
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
