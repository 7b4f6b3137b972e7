/** What a sender with bad intentions, or a broken program, may send. */
import fc from 'fast-check'

/** Texts that mean something elsewhere. */
export const hostile: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({
    unit: fc.constantFrom(...'+-"^\\ \'%;:/.*[]{}$`()\0\n', '\ud800', 'é', '9', 'a', '2.0'),
    maxLength: 30,
  }),
  fc.constantFrom("'; DROP TABLE entries; --", '$(exit) {{x}} %s', '../../etc/passwd', '__proto__', '{"a":1}', 'NaN'),
)
const names = fc.constantFrom(
  ...['semantic', 'filters', 'context', 'options', 'preset', 'scope', 'local', 'nodes', 'diversity', 'min_confidence'],
  ...[
    'overall',
    'holder_ids',
    'valid_at',
    'trust_graph',
    'requester_id',
    'ranking_weights',
    'trust',
    'limit',
    'cursor',
  ],
  ...['__proto__', 'toString', ''],
)
const leaf = fc.oneof(hostile, fc.double(), fc.boolean(), fc.constant(null), fc.constant(undefined), fc.bigInt())
const { value } = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(names, hostile), tie('value'), { maxKeys: 6, noNullPrototype: false }),
  ),
}))

/** Any value, JSON or not; objects often have the names of real fields. */
export const anything: fc.Arbitrary<unknown> = value
