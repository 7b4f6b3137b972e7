/** Where a message comes from, as far as it tells senders apart. */

/** Groups of an IPv6 address that name a network; in one everybody has any number of addresses. */
const NETWORK_GROUPS = 4
const GROUPS = 8

/** An IPv4 address as it is, also where it is written as one of IPv6; of an IPv6 address the network (/64). */
export function networkOf(address: string): string {
  const [bare = ''] = address.split('%')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1]
  if (mapped !== undefined) return mapped
  if (!bare.includes(':')) return bare
  const [before = [], after = []] = bare.split('::').map(part => (part === '' ? [] : part.split(':')))
  const zeros = Array.from({ length: Math.max(0, GROUPS - before.length - after.length) }, () => '0')
  const groups = [...before, ...zeros, ...after].slice(0, NETWORK_GROUPS)
  return groups.map(group => Number.parseInt(group, 16).toString(16)).join(':')
}
