import { invalidArgument } from '../model/errors.ts'

/** The address of a server. Throws `invalid_argument` for what is none. */
export function serverUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw invalidArgument('url', text, 'an address such as http://localhost:8000')
  }
  return url
}
