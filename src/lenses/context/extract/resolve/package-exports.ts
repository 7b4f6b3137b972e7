/** Targets that package.json (`exports`, `imports`) and tsconfig.json (`paths`) give a name, best first. */
import { isRecord } from '../../../../base/record.ts'

/** Sources and types before what runs: they say more. */
const CONDITIONS = ['source', 'types', 'import', 'module', 'node', 'default', 'require']
const MAX_DEPTH = 6

/** `map` is what stands in package.json, of any shape; `name` is `.`, `./x` or `#x`. */
export function mappedTargets(map: unknown, name: string): string[] {
  if (!isRecord(map)) return name === '.' ? conditionTargets(map, MAX_DEPTH) : []
  if (!Object.keys(map).some(key => /^[.#]/.test(key))) return name === '.' ? conditionTargets(map, MAX_DEPTH) : []
  if (Object.hasOwn(map, name)) return conditionTargets(map[name], MAX_DEPTH)
  for (const key of longestFirst(Object.keys(map))) {
    const filling = fill(key, name)
    if (filling !== null) return conditionTargets(map[key], MAX_DEPTH).map(target => target.replaceAll('*', filling))
  }
  return []
}

/** The targets of the longest pattern that the name fits. */
export function patternTargets(paths: Readonly<Record<string, readonly string[]>>, name: string): string[] {
  if (Object.hasOwn(paths, name)) return [...(paths[name] ?? [])]
  for (const key of longestFirst(Object.keys(paths))) {
    const filling = fill(key, name)
    if (filling !== null) return (paths[key] ?? []).map(target => target.replace('*', () => filling))
  }
  return []
}

/** What the star of the pattern stands for, null where the name does not fit. */
function fill(pattern: string, name: string): string | null {
  const star = pattern.indexOf('*')
  if (star < 0) return null
  const [front, back] = [pattern.slice(0, star), pattern.slice(star + 1)]
  const fits = name.length >= front.length + back.length && name.startsWith(front) && name.endsWith(back)
  return fits ? name.slice(front.length, name.length - back.length) : null
}

function longestFirst(patterns: string[]): string[] {
  return patterns.sort((a, b) => b.indexOf('*') - a.indexOf('*') || (a < b ? -1 : 1))
}

function conditionTargets(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value]
  if (depth === 0) return []
  if (Array.isArray(value)) return value.flatMap(one => conditionTargets(one, depth - 1))
  if (!isRecord(value)) return []
  return CONDITIONS.flatMap(key => (Object.hasOwn(value, key) ? conditionTargets(value[key], depth - 1) : []))
}
