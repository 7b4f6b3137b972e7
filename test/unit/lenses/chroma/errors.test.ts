/** What errors tell the doors: input that is wrong is one thing, a state that is wrong another (CQ-105). */
import { describe, expect, it } from 'vitest'
import {
  ConfigurationError,
  DatabaseError,
  HashtagConflictError,
  PluginError,
  QueryError,
  StorageError,
  ValidationError,
} from '../../../../src/lenses/chroma/errors.ts'

describe('errors', () => {
  it.each([
    [new ValidationError('invalid_parameter', ''), 'usage', false],
    [new QueryError('unknown_profile', ''), 'usage', false],
    [new ConfigurationError('invalid_configuration', ''), 'usage', false],
    [new PluginError('invalid_plugin', ''), 'usage', false],
    [new HashtagConflictError('hashtag_in_use', ''), 'conflict', false],
    [new StorageError('stack_invalid', ''), 'broken', false],
    [new DatabaseError('', { retryable: true, attempts: 5 }), 'busy', true],
    [new DatabaseError('', { retryable: false, attempts: 1 }), 'broken', false],
  ])('%o is of kind %s', (error, kind, retryable) => {
    expect({ kind: error.kind, retryable: error.retryable }).toEqual({ kind, retryable })
  })
})
