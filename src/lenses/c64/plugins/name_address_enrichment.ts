/** From the name of a register or routine to its address, and on request from an address to the name. */
import type { EnrichmentInput, EnrichmentPlugin, EnrichmentResult } from '../enrichment/plugin.ts'
import { addressOf } from '../facts/address.ts'
import { registerAt } from '../facts/chips.ts'
import { kernalAt } from '../facts/places.ts'
import { kernalIn } from '../names/kernal.ts'
import { registersIn } from '../names/registers.ts'

export interface NameAddressOptions {
  /** An address adds the tag of its register or routine. Off by default. */
  readonly expandAddresses?: boolean | undefined
}

export class NameAddressEnrichment implements EnrichmentPlugin {
  readonly name: string = 'name_address'
  readonly priority: number = 80
  readonly #expandAddresses: boolean

  constructor(options: NameAddressOptions = {}) {
    this.#expandAddresses = options.expandAddresses === true
  }

  enrich({ query, numbers }: EnrichmentInput): EnrichmentResult {
    const spoken = new Set(numbers.filter(({ role }) => role !== 'prose').map(({ value }) => value))
    const named = [
      ...registersIn(query).map(({ name, address, chip }) => ({ name, address, owner: chip })),
      ...kernalIn(query).map(({ label, address }) => ({ name: label, address, owner: 'KERNAL' })),
    ].filter(({ address }) => !spoken.has(addressOf(address)))
    const addresses = numbers.filter(({ role }) => role === 'address').map(({ value }) => value)
    return {
      additionalContext: named.map(({ name, address, owner }) => `${name} = ${address} (${owner})`),
      filterTags: [
        ...named.map(({ address }) => address),
        ...(this.#expandAddresses ? addresses.flatMap(namesAt) : []),
      ],
    }
  }
}

function namesAt(address: number): readonly string[] {
  const register = registerAt(address)
  const routine = kernalAt(address)
  return [...(register === null ? [] : [register.name]), ...(routine === null ? [] : [routine.label])]
}
