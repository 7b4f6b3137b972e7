/** What a question costs that no clock is needed for: how often the store is asked, what it gives, how many nodes are looked around. */
import type { Index } from '../../src/index/contract.ts'
import type { LensHost } from '../../src/lenses/lens.ts'

export interface Work {
  /** Asked of the store, tables included. */
  calls: number
  /** Given by the store: rows, entries, chunks. */
  rows: number
  /** Of whole tables. */
  scans: number
  /** Lists of links from or to a node. */
  links: number
}

/** As `host`, counting; the lens's memory of a host is kept by host, so this one begins with none. */
export function watched(host: LensHost): { readonly host: LensHost; readonly work: Work } {
  const work: Work = { calls: 0, rows: 0, scans: 0, links: 0 }
  const store = counting(host.store, work)
  const index = (name: string): Index => (name === 'links' ? countingLinks(host.index(name), work) : host.index(name))
  return { host: { ...host, store, index }, work }
}

const NO_WORK = new Set<string | symbol>(['table', 'read', 'version', 'around'])

function counting<T extends object>(object: T, work: Work): T {
  return new Proxy(object, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...args: readonly unknown[]) => {
        // `around` calls its body without a reader.
        const passed = args.map(arg =>
          typeof arg === 'function' && name !== 'around'
            ? (inner: object) => (arg as (on: object) => unknown)(counting(inner, work))
            : arg,
        )
        const result: unknown = Reflect.apply(value, target, passed)
        if (name === 'table') return counting(result as object, work)
        if (!NO_WORK.has(name)) {
          work.calls++
          if (Array.isArray(result)) work.rows += result.length
          if (name === 'scan' && isWhole(args)) work.scans++
        }
        return result
      }
    },
  })
}

function isWhole([where, options]: readonly unknown[]): boolean {
  const isNarrow = Object.keys((where as object | undefined) ?? {}).length > 0
  return !isNarrow && (options as { entries?: unknown } | undefined)?.entries === undefined
}

function countingLinks(index: Index, work: Work): Index {
  return new Proxy(index, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...args: readonly unknown[]) => {
        if (name === 'out' || name === 'in') work.links++
        return Reflect.apply(value, target, args) as unknown
      }
    },
  })
}
