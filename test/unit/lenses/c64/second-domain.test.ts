import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { httpDomain, pluginFolder } from '../../../../examples/enrichment/http-domain.ts'
import { enrich } from '../../../../src/lenses/c64/enrichment/enrich.ts'
import { c64Domain } from '../../../../src/lenses/c64/plugins.ts'
import { loadEnrichmentPlugins } from '../../../../src/openings/enrichment-plugins.ts'

const folder = fileURLToPath(new URL('../../../../src/lenses/c64/enrichment', import.meta.url))

describe('a second domain', () => {
  it('has context and tags of its own and none of the first (EN-077)', async () => {
    const { plugins, warnings } = await loadEnrichmentPlugins({ trustedFolders: [pluginFolder] })
    expect(warnings).toEqual([])
    const http = httpDomain(plugins)
    expect(enrich('why 404?', http)).toMatchObject({ additionalContext: ['404 = Not Found'], filterTags: ['404'] })
    expect(enrich('LDA $D020 on port 443 took 404 ms', http)).toMatchObject({
      additionalContext: ['port 443 = HTTPS'],
      filterTags: ['PORT 443'],
      strategy: 'hybrid',
    })
    expect(enrich('why 404?', c64Domain()).filterTags).toEqual([])
    expect(http.corpus?.().find(({ tags }) => tags.includes('404'))?.title).toBe('404 Not Found')
  })

  it('needs nothing but a name and plugins (EN-076)', () => {
    const plugin = {
      name: 'count',
      enrich: ({ numbers }: { readonly numbers: readonly unknown[] }) => ({
        additionalContext: [`${numbers.length} numbers`],
        filterTags: [' Some Tag '],
      }),
    }
    const found = enrich('Some Tag 1,000 2', { name: 'tiny', plugins: [plugin] })
    expect(found.additionalContext).toEqual(['2 numbers'])
    expect([found.filterTags, found.strategy]).toEqual([['Some Tag'], 'filtered'])
  })
})

describe('the pipeline', () => {
  it('is free of the first domain (EN-076)', () => {
    for (const file of readdirSync(folder)) {
      const text = readFileSync(join(folder, file), 'utf8')
      const imports = [...text.matchAll(/from '([^']+)'/g)].map(match => match[1] ?? '')
      expect(
        imports.filter(path => !/^\.\/|^\.\.\/\.\.\/\.\.\/(?:base|model)\//.test(path)),
        file,
      ).toEqual([])
      expect(text, file).not.toMatch(/c64|commodore|6502|6510|kernal|VIC|\bSID\b|poke|sprite|\$D0/i)
    }
  })
})
