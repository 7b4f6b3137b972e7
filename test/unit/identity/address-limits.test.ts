/** Wrong tokens by address: networks of IPv6 count as one, and memory is bounded. */
import { expect, it } from 'vitest'
import { AddressLimits } from '../../../src/identity/limits.ts'

const failures = (limits: AddressLimits, address: string): number => {
  for (let count = 0; ; count += 1) {
    try {
      limits.failed(address)
    } catch {
      return count
    }
  }
}

it.each([
  ['203.0.113.7', '::ffff:203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::9'],
  ['fe80::1%eth0', 'fe80::2:3'],
  ['::1', '0:0:0:0:1::'],
])('%s and %s have one bucket', (one, other) => {
  const limits = new AddressLimits(() => 0)
  expect(failures(limits, one)).toBe(30)
  expect(failures(limits, other)).toBe(0)
  expect(limits.size).toBe(1)
})

it.each([
  ['203.0.113.7', '203.0.113.8'],
  ['2001:db8:1:2::9', '2001:db8:1:3::9'],
  ['', '127.0.0.1'],
])('"%s" and %s have one each', (one, other) => {
  const limits = new AddressLimits(() => 0)
  expect(failures(limits, one)).toBe(30)
  expect(failures(limits, other)).toBe(30)
})

it('remembers the addresses seen last, and no more than a bound', () => {
  const limits = new AddressLimits(() => 0)
  for (let at = 0; at < 10_000; at += 1) limits.failed(`10.0.${at >> 8}.${at & 255}`)
  expect(limits.size).toBe(4_096)
})
