/** What an error tells people to do must be something they can do. */
import { expect, it } from 'vitest'
import { ERROR_CODES, QuerentError } from '../../../src/model/errors.ts'

it.each(Object.entries(ERROR_CODES))(
  '%s: help is one line, and names no command that would fail the same way',
  (code, { help }) => {
    expect(help).toMatch(/^\S.*\.$/)
    // `doctor` opens the store first: where that fails, it fails too.
    if (code.startsWith('store_')) expect(help).not.toContain('doctor')
  },
)

it('has a well-formed text, whatever it quotes', () => {
  expect(new QuerentError('invalid_json', 'config.json: \ud83d is no JSON').message).toBe(
    'config.json: \ufffd is no JSON',
  )
})
