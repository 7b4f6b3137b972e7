// `npm run check`: everything that `npm test` looks at, but for the tests.
import { afterTests, beforeTests, runStep } from './steps.ts'

const passed = [...beforeTests, ...afterTests].map(runStep)
if (passed.includes(false)) process.exitCode = 1
