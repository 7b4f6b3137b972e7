/**
 * Checks what comes before the body. Keeps web pages out: on loopback the local owner needs no token, so a page in a browser on this machine must not get
 * through: neither by a host name of its own that resolves to this machine (DNS rebinding), nor from its own origin. A port makes
 * an origin: a page that another program serves on this machine is a page of another site.
 */
import { invalidArgument, QuerentError } from '../../model/errors.ts'

/** What a request may call this server, and from which pages it may come. */
export interface Names {
  /** Whether only this machine can connect. */
  readonly loopback: boolean
  /** Host names without a port, lower case. Without any, a server for other machines is called what it is called. */
  readonly hosts: readonly string[]
  /** Origins of other sites whose pages are answered. */
  readonly origins: readonly string[]
}

/** Addresses that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** Checks what `--allow-host` and `--cors` were given. Throws `invalid_argument`. */
export function namesOf(loopback: boolean, hosts: readonly string[], origins: readonly string[]): Names {
  for (const host of hosts) {
    if (host === '' || hostname(`http://${host}`) !== host.toLowerCase()) {
      throw invalidArgument('--allow-host', host, 'a host name without scheme, port and path')
    }
  }
  for (const origin of origins) {
    if (!/^https?:/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw invalidArgument('--cors', origin, 'an origin such as https://notes.example, without a path')
    }
  }
  return { loopback, hosts: hosts.map(host => host.toLowerCase()), origins }
}

/** Throws `denied` for names that are not ours, `invalid_argument` for what could be read in two ways. */
export function checkHead(request: Request, names: Names): void {
  checkNames(request, names)
  checkAddress(request.url)
  checkForm(request.headers)
}

/** The names that the request gives, to us and to its page, are ours or were allowed. */
function checkNames({ url, method, headers }: Request, names: Names): void {
  const host = headers.get('host') ?? ''
  // A request line can name a host too, which counts more than the header (RFC 9112, 3.2.2). Two headers are joined by a comma.
  if (host.includes(',') || ![`http://${host}`, url].every(name => isAllowedHost(hostname(name), names))) {
    throw new QuerentError('denied', 'host: it must be a name of this machine, or a host of --allow-host', {
      field: 'host',
    })
  }
  const origin = headers.get('origin')
  if (origin === null ? !isFromOtherOrigin(method, headers) : isAllowedOrigin(origin, host, names)) return
  throw new QuerentError('denied', 'origin: pages of other sites may not call the server, except those of --cors', {
    field: 'origin',
  })
}

/**
 * Browsers send no `Origin` with what a page loads without asking to read it, such as an image, but say how its origin relates to ours: `same-site` is
 * another port. A link that the user follows into a tab is let through: the page it is on gets nothing of the answer.
 */
function isFromOtherOrigin(method: string, headers: Headers): boolean {
  const site = headers.get('sec-fetch-site')
  if (site === null || site === 'same-origin' || site === 'none') return false
  const isLink = headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document'
  return method !== 'GET' || !isLink
}

/** Escapes that are no UTF-8 would otherwise stand for themselves. */
function checkAddress(url: string): void {
  if (!url.includes('%')) return
  const { pathname, search } = new URL(url)
  for (const [field, text] of [['path', pathname] as const, ['query', search] as const]) {
    try {
      decodeURIComponent(text)
    } catch {
      throw invalidArgument(field, text, 'UTF-8 with escapes of two hexadecimal digits')
    }
  }
}

/** Bodies are taken as they come: whoever packs them means them to be unpacked. */
function checkForm(headers: Headers): void {
  const sent = headers.get('transfer-encoding')
  if (sent !== null && sent.toLowerCase() !== 'chunked') {
    throw invalidArgument('transfer-encoding', sent, 'chunked, or none')
  }
  const packed = headers.get('content-encoding')
  if (packed !== null && packed.toLowerCase() !== 'identity') {
    throw invalidArgument('content-encoding', packed, 'a body that is not compressed')
  }
}

function isAllowedHost(name: string, { loopback, hosts }: Names): boolean {
  if (isLoopback(name) || hosts.includes(name)) return true
  return !loopback && hosts.length === 0
}

/** `https`: a proxy may have taken the encryption off. */
function isAllowedOrigin(origin: string, host: string, { origins }: Names): boolean {
  const own = ['http', 'https'].map(scheme => `${scheme}://${host}`).filter(url => URL.canParse(url))
  return origins.includes(origin) || own.some(url => new URL(url).origin === origin)
}

function hostname(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}
