/** Imported before a program: appends the URL of each module that it loads to the file that MODULES names. */
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

registerHooks({
  load: (url, context, next) => {
    appendFileSync(process.env['MODULES'] as string, `${url}\n`)
    return next(url, context)
  },
})
