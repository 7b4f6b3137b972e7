import { invalidArgument, QuerentError } from '../model/errors.ts'

/** The address of a server. Throws `invalid_argument` for what is none, or has a secret in it: messages show addresses. */
export function serverUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw invalidArgument('url', text, 'an address such as http://localhost:8000')
  }
  if (url.username !== '' || url.password !== '') {
    const problem = 'url: expected an address without user and password; use the token or key'
    throw new QuerentError('invalid_argument', problem, { field: 'url' })
  }
  return url
}
