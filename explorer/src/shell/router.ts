/** The address after `#`: `#/<view>/<rest…>?<settings>`. It holds everything that a shared link needs. */
import { computed, signal } from '@preact/signals'

export interface Route {
  readonly path: string
  readonly rest: readonly string[]
  readonly settings: URLSearchParams
}

/** A list is written as its name again and again. Of what is undefined or empty, nothing is written. */
export type Settings = Readonly<Record<string, string | readonly string[] | undefined>>

const hash = signal(location.hash)
window.addEventListener('hashchange', followAddress)
window.addEventListener('popstate', followAddress)

export const route = computed<Route>(() => parseRoute(hash.value))

function parseRoute(text: string): Route {
  const whole = text.replace(/^#\/?/, '')
  const at = whole.indexOf('?')
  const where = at < 0 ? whole : whole.slice(0, at)
  const [path = '', ...rest] = where.split('/').map(plain)
  return { path: path === '' ? 'search' : path, rest, settings: new URLSearchParams(at < 0 ? '' : whole.slice(at)) }
}

export function addressOf(path: string, rest: readonly string[] = [], settings: Settings = {}): string {
  const given = Object.entries(settings).flatMap(([name, value]) =>
    [value ?? []].flat().flatMap(one => (one === '' ? [] : [[name, one]])),
  )
  const query = new URLSearchParams(given).toString()
  return `#/${[path, ...rest].map(encodeURIComponent).join('/')}${query && `?${query}`}`
}

/** `replace`: without a step back in the browser's history, as for what is typed letter by letter. */
export function goTo(address: string, how: 'push' | 'replace' = 'push'): void {
  history[how === 'push' ? 'pushState' : 'replaceState'](null, '', address)
  hash.value = address
}

function followAddress(): void {
  // Links within a page (to its content) are no addresses of views.
  if (location.hash === '' || location.hash.startsWith('#/')) hash.value = location.hash
}

/** Addresses are typed by hand too: what is not encoded well stands for itself. */
function plain(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** `rest`: what follows the view's name in the address, for example the id of an entry. */
export interface ViewProps {
  readonly rest: readonly string[]
}
