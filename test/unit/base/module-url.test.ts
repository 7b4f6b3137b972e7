import { describe, expect, it } from 'vitest'
import { packageUrl, siblingModule } from '../../../src/base/module-url.ts'

describe('siblingModule', () => {
  it('ends as the asking module does: .ts from source, .js in the package', () => {
    expect(siblingModule('file:///repo/src/embed/thread.ts', 'worker').href).toBe('file:///repo/src/embed/worker.ts')
    expect(siblingModule('file:///app/dist/embed/thread.js', 'worker').href).toBe('file:///app/dist/embed/worker.js')
  })

  it('keeps the signs of an address in a folder name', () => {
    expect(siblingModule('file:///a%20b/%23/x.js', 'y').href).toBe('file:///a%20b/%23/y.js')
  })
})

describe('packageUrl', () => {
  it.each([
    'file:///app/src/interfaces/http/files.ts',
    'file:///app/dist/interfaces/http/explorer.js',
    'file:///app/dist/command/chunks-abc.js',
  ])('finds the folder of the package from %s', requester => {
    expect(packageUrl(requester, 'dist/explorer').href).toBe('file:///app/dist/explorer')
  })

  it('takes the innermost one, as where the package lies in another one', () => {
    const requester = 'file:///src/app/dist/node_modules/querent/dist/command/main.js'
    expect(packageUrl(requester, 'x').href).toBe('file:///src/app/dist/node_modules/querent/x')
  })

  it('refuses a module that lies in none', () => {
    expect(() => packageUrl('file:///app/main.js', 'x')).toThrow('lies in no package')
  })
})
