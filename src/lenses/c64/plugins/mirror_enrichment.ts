/** The register behind an address at which its chip repeats itself. */
import { toAddress } from '../enrichment/parsed-number.ts'
import type { EnrichmentInput, EnrichmentPlugin, EnrichmentResult } from '../enrichment/plugin.ts'
import { mirroredAddress, registerAt } from '../facts/chips.ts'

export class MirrorEnrichment implements EnrichmentPlugin {
  readonly name: string = 'mirror'
  readonly priority: number = 20

  enrich({ numbers }: EnrichmentInput): EnrichmentResult {
    const mirrors = numbers.flatMap(({ value, role }) => {
      const canonical = role === 'address' ? mirroredAddress(value) : null
      const register = canonical === null ? null : registerAt(canonical)
      return register === null ? [] : [{ address: toAddress(value), register }]
    })
    return {
      additionalContext: mirrors.map(
        ({ address, register: { address: canonical, chip, name } }) =>
          `${address} is mirror of ${canonical} (${chip} ${name})`,
      ),
      filterTags: mirrors.map(({ register }) => register.address),
    }
  }
}
