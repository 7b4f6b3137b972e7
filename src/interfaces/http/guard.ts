/**
 * Checks the head of a request (all that comes before the body) to keep foreign web pages out. On a loopback address the local owner needs
 * no token, so a page in a browser on this machine must not get through: neither under a host name of its own that resolves to this machine
 * (DNS rebinding), nor from its own origin. The port is part of an origin, so a page served by another program on this machine is foreign
 * too.
 */
import { invalidArgument, QuerentError } from '../../model/errors.ts'

/** Host names under which this server may be addressed, and origins of web pages that may call it. */
export interface Names {
  /** Whether the server can be reached from this machine only. */
  readonly loopback: boolean
  /**
   * Host names, without port and in lower case, under which the server answers. If there are none, a server that other machines can reach
   * accepts any host name.
   */
  readonly hosts: readonly string[]
  /** Origins of foreign web pages that may call this server. */
  readonly origins: readonly string[]
}

/** Whether a host name is a loopback address, which only this machine itself can reach. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** Checks the values of the options `--allow-host` and `--cors`. Throws `invalid_argument`. */
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

/**
 * Checks the head of a request. Throws `denied` for a host name or origin that is not allowed, `invalid_argument` for a request that could
 * be understood in two ways.
 */
export function checkHead(request: Request, names: Names): void {
  checkNames(request, names)
  checkAddress(request.url)
  checkForm(request.headers)
}

/** Checks that host name and origin of the request are this server's own or were allowed by options; throws `denied` otherwise. */
function checkNames({ url, method, headers }: Request, names: Names): void {
  const host = headers.get('host') ?? ''
  // The host is checked in the header and in the URL, because the request line may also contain a host, which takes precedence (RFC 9112,
  // 3.2.2). Two Host headers would be joined by a comma, which is rejected.
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
 * Whether a page of another origin caused the request. Browsers send no `Origin` for resources that a page shows without reading them, such
 * as images, but then say in `sec-fetch-site` how the page's origin relates to this server's (`same-site` can mean another port). Opening a
 * link in a tab is allowed, because the page that contains the link gets nothing of the answer.
 */
function isFromOtherOrigin(method: string, headers: Headers): boolean {
  const site = headers.get('sec-fetch-site')
  if (site === null || site === 'same-origin' || site === 'none') return false
  const isLink = headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document'
  return method !== 'GET' || !isLink
}

/** Throws for percent-escapes in the URL, such as %FF, that are not UTF-8; without this check they would be used as literal text. */
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

/** Throws for a compressed body, because bodies are not decompressed, and for a transfer encoding other than `chunked`. */
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

/**
 * Whether the origin is the server's own or was allowed. `https` is accepted for the server's own host too, because a proxy in front of it
 * may have removed the encryption.
 */
function isAllowedOrigin(origin: string, host: string, { origins }: Names): boolean {
  const own = ['http', 'https'].map(scheme => `${scheme}://${host}`).filter(url => URL.canParse(url))
  return origins.includes(origin) || own.some(url => new URL(url).origin === origin)
}

function hostname(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}
