import { describe, expect, it } from 'vitest'
import { RunGate, shutAtExit } from '../../../src/embed/stoppable-thread.ts'

describe('RunGate', () => {
  it('lets work pass, one after the other, and gives what it gives', async () => {
    const gate = new RunGate()
    expect(await gate.pass(async () => 1)).toBe(1)
    await expect(gate.pass(() => Promise.reject(new Error('work failed')))).rejects.toThrow('work failed')
    expect(await gate.pass(async () => 2)).toBe(2)
  })

  it('runs nothing once it is shut, also when shut from the other side', async () => {
    const gate = new RunGate()
    await new RunGate(gate.memory).shut()
    let ran = false
    const work = async () => {
      ran = true
    }
    expect(await gate.pass(work)).toBeNull()
    expect(ran).toBe(false)
  })

  it('is shut only when the work inside is done', async () => {
    const gate = new RunGate()
    const order: string[] = []
    let finish = () => {}
    const inside = gate.pass(() => new Promise<void>(resolve => (finish = resolve))).then(() => order.push('work done'))
    const shut = gate.shut().then(() => order.push('shut'))
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(order).toEqual([])
    finish()
    await Promise.all([inside, shut])
    expect(order.sort()).toEqual(['shut', 'work done'])
  })

  it('is shut at once when nobody is inside, or when who was inside is gone', async () => {
    new RunGate().shutNow()
    const gate = new RunGate()
    void gate.pass(() => new Promise(() => {}))
    const shut = gate.shut()
    gate.leave()
    await shut
  })

  it('listens to the exit of the process once, for all gates, as long as there are any', () => {
    const before = process.listenerCount('exit')
    const forget = Array.from({ length: 20 }, () => shutAtExit(new RunGate()))
    expect(process.listenerCount('exit')).toBe(before + 1)
    for (const each of forget) each()
    expect(process.listenerCount('exit')).toBe(before)
  })
})
