import { spawnSync } from 'node:child_process'
import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import { isGone, nameHolder } from '../../../src/engine/holder.ts'
import { Lease } from '../../../src/engine/lease.ts'
import { openMemoryStore } from '../../../src/store/memory-store.ts'

const dead = `${hostname()}/${spawnSync(process.execPath, ['--version']).pid}/x`

describe('a holder', () => {
  it('is gone when its process is', () => {
    expect(isGone(nameHolder('x'))).toBe(false)
    expect(isGone(dead)).toBe(true)
  })

  it('of another machine or of unknown kind may live', () => {
    expect(isGone(`elsewhere/${dead.split('/')[1]}/x`)).toBe(false)
    for (const holder of ['me', '', '1/2', 'a/b/c']) expect(isGone(holder)).toBe(false)
  })

  it('that belongs to another user may live', () => {
    expect(isGone(`${hostname()}/1/x`)).toBe(false)
  })
})

describe('a lease', () => {
  let now = 1_000_000
  const store = openMemoryStore()
  const lease = (holder: string, name = 'work') => new Lease(store, name, holder, () => now)

  it('is one’s until it is given back', () => {
    expect(lease('a').take()).toBe(true)
    expect(lease('a').take()).toBe(true)
    expect(lease('b').take()).toBe(false)
    expect(lease('b', 'other work').take()).toBe(true)
    lease('b').release()
    expect(lease('b').take()).toBe(false)
    lease('a').release()
    expect(lease('b').take()).toBe(true)
  })

  it('ends with its term unless it is renewed', () => {
    now += 14_000
    expect(lease('b').take()).toBe(true)
    now += 14_999
    expect(lease('c').take()).toBe(false)
    now += 1
    expect(lease('c').take()).toBe(true)
    expect(lease('b').take()).toBe(false)
  })

  it('of a process that died is taken at once', () => {
    now += 60_000
    expect(lease(dead).take()).toBe(true)
    expect(lease('d').take()).toBe(true)
  })
})
