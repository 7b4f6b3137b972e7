/** A second domain: HTTP status codes and ports. Its plugins are the files of the folder beside this one. */
import { fileURLToPath } from 'node:url'
import type { EnrichmentDomain, EnrichmentPlugin } from '../../src/index.ts'
import STATUS_CODES from './status-codes.json' with { type: 'json' }

export const pluginFolder: string = fileURLToPath(new URL('plugins', import.meta.url))

export function httpDomain(plugins: readonly EnrichmentPlugin[]): EnrichmentDomain {
  return {
    name: 'http',
    plugins,
    numbers: {
      // "took 404 ms" is no status code.
      units: ['ms', 'seconds?', 'bytes?', 'requests?', 'times'],
      isProse: value => value >= 1970 && value <= 2039,
    },
    corpus: () =>
      Object.entries(STATUS_CODES).map(([code, meaning]) => ({
        id: `http:status:${code}`,
        title: `${code} ${meaning}`,
        type: 'status',
        text: `HTTP status code ${code}: ${meaning}.`,
        tags: [code],
      })),
  }
}
