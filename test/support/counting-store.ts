/** A store that counts what is asked of it: calls by name, and how many rows, keys or entries each gave. */
import type { Store } from '../../src/store/store.ts'

export interface Work {
  /** One line a call, in order. */
  readonly calls: string[]
}

export function countingStore(store: Store): { readonly store: Store; readonly work: Work } {
  const work: Work = { calls: [] }
  return { store: counted(store, '', work), work }
}

/** Calls that tell nothing of what is stored, and are made as often as anything. */
const SILENT: ReadonlySet<string> = new Set(['close'])

function counted<T extends object>(target: T, path: string, work: Work): T {
  return new Proxy(target, {
    get(from, name) {
      const member: unknown = Reflect.get(from, name, from)
      if (typeof member !== 'function' || typeof name === 'symbol' || SILENT.has(name)) return member
      return (...given: unknown[]) => {
        if (name === 'read' || name === 'write') {
          const at = given.findIndex(each => typeof each === 'function')
          const body = given[at] as (inner: object) => unknown
          return member.apply(
            from,
            given.with(at, (inner: object) => body(counted(inner, path, work))),
          )
        }
        const result: unknown = member.apply(from, given)
        if (name === 'table') return counted(result as object, `${(given[0] as { name: string }).name}.`, work)
        work.calls.push(`${path}${name} ${sizeOf(result)}`)
        return result
      }
    },
  })
}

function sizeOf(result: unknown): number {
  if (Array.isArray(result)) return result.length
  if (result instanceof Map || result instanceof Set) return result.size
  return result === undefined || result === null ? 0 : 1
}
