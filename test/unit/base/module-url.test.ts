import { describe, expect, it } from 'vitest'
import { siblingModule } from '../../../src/base/module-url.ts'

describe('siblingModule', () => {
  it('ends as the asking module does: .ts from source, .js in the package', () => {
    expect(siblingModule('file:///repo/src/embed/thread.ts', 'worker').href).toBe('file:///repo/src/embed/worker.ts')
    expect(siblingModule('file:///app/dist/embed/thread.js', 'worker').href).toBe('file:///app/dist/embed/worker.js')
  })

  it('keeps the signs of an address in a folder name', () => {
    expect(siblingModule('file:///a%20b/%23/x.js', 'y').href).toBe('file:///a%20b/%23/y.js')
  })
})
