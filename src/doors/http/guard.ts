/**
 * Keeps web pages out. On loopback the local owner needs no token, so a page in a browser on this machine must not get
 * through: neither with a name of its own that points here (DNS rebinding), nor from its own origin.
 */
import { QuerentError } from '../../model/errors.ts'

/** Addresses that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** Throws `denied` unless the names that the request gives, to us and to its page, are ours. */
export function checkNames(headers: Headers, loopback: boolean): void {
  const host = headers.get('host') ?? ''
  if (loopback && !isLoopback(hostname(`http://${host}`))) {
    throw new QuerentError('denied', 'host: only names of this machine are answered', { field: 'host' })
  }
  const origin = headers.get('origin')
  if (origin === null) return
  const isOurs = loopback ? isLoopback(hostname(origin)) : origin === `http://${host}` || origin === `https://${host}`
  if (!isOurs) throw new QuerentError('denied', 'origin: pages of other sites are not answered', { field: 'origin' })
}

function hostname(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}
