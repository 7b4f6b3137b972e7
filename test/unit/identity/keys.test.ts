import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { didOf, fromBase58, keysOf, publicKeyOf, toBase58, verifierOf } from '../../../src/identity/keys.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'))

/** RFC 8032, section 7.1: seed, public key, message, signature. */
const RFC_8032 = [
  [
    '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    '',
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  ],
  [
    '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    '72',
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  ],
  [
    'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
    'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    'af82',
    '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  ],
] as const

describe('keys', () => {
  it.each(RFC_8032)('sign and verify as RFC 8032 says (%#)', (seed, publicKey, message, signature) => {
    const keys = keysOf(hex(seed))
    expect(Buffer.from(keys.publicKey).toString('hex')).toBe(publicKey)
    expect(Buffer.from(keys.sign(hex(message))).toString('hex')).toBe(signature)
    expect(verifierOf(keys.did)?.verify(hex(message), hex(signature))).toBe(true)
  })

  it('refuse what was signed by another, or changed by a bit', () => {
    const by = fc.record({ seed: bytes(32), other: bytes(32), message: fc.uint8Array(), bit: fc.nat(511) })
    const property = fc.property(by, ({ seed, other, message, bit }) => {
      const keys = keysOf(seed)
      const signature = keys.sign(message)
      const verifier = verifierOf(keys.did)
      expect(verifier?.verify(message, signature)).toBe(true)
      expect(verifier?.verify(Uint8Array.from([...message, 0]), signature)).toBe(false)
      const changed = signature.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
      expect(verifier?.verify(message, changed)).toBe(false)
      expect(verifier?.verify(message, signature.subarray(1))).toBe(false)
      if (Buffer.compare(seed, other) !== 0)
        expect(verifierOf(keysOf(other).did)?.verify(message, signature)).toBe(false)
    })
    fc.assert(property, { numRuns: 50 })
  })

  it('need a seed of 32 bytes', () => {
    expect(() => keysOf(new Uint8Array(31))).toThrow('32')
  })
})

describe('did:key', () => {
  it('writes Ed25519 keys as the method says', () => {
    // From the test vectors of the method: the key of an all-zero seed.
    expect(keysOf(new Uint8Array(32)).did).toBe('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp')
  })

  it('gives every key back', () => {
    const property = fc.property(bytes(32), key => {
      expect(publicKeyOf(didOf(key))).toEqual(key)
    })
    fc.assert(property)
  })

  it('knows nothing else', () => {
    const did = keysOf(new Uint8Array(32)).did
    const other = `did:key:z${toBase58(Uint8Array.from([0xec, 0x01, ...new Uint8Array(32)]))}`
    for (const text of ['', 'owner', 'did:web:example.org', did.slice(0, -1), `${did}1`, `${did}#key`, other]) {
      expect(publicKeyOf(text), text).toBeNull()
      expect(verifierOf(text), text).toBeNull()
    }
    expect(publicKeyOf(`did:key:z${'z'.repeat(1_000_000)}`)).toBeNull()
    expect(() => didOf(new Uint8Array(33))).toThrow('32')
  })
})

describe('base58', () => {
  it('keeps bytes, zeros at the front included', () => {
    const some = fc.tuple(fc.nat(3), fc.uint8Array({ maxLength: 40 }))
    const property = fc.property(some, ([zeros, rest]) => {
      const all = Uint8Array.from([...new Uint8Array(zeros), ...rest])
      expect(fromBase58(toBase58(all))).toEqual(all)
    })
    fc.assert(property)
  })

  it('has one text for each value', () => {
    const text = fc.string({ unit: fc.constantFrom(...'123abcXYZz'), maxLength: 30 })
    const property = fc.property(text, some => {
      expect(toBase58(fromBase58(some) as Uint8Array)).toBe(some)
    })
    fc.assert(property)
    expect(toBase58(Buffer.from('Hello World!'))).toBe('2NEpo7TZRRrLZSi2U')
    expect(fromBase58('0')).toBeNull()
  })
})
