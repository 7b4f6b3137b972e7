/**
 * Conditions on metadata and on columns of plug-ins (CQ-016, CQ-058 to CQ-064). A value is looked at whole: scalar, list
 * or object, or undefined where the field is missing.
 */
import type { Json, JsonObject } from '../../../base/canonical.ts'
import { isRecord } from '../../../base/record.ts'
import type { Condition, ConditionOperators, Scalar } from '../model.ts'

export type FieldTest = (value: Json | undefined) => boolean

type Operator = keyof ConditionOperators
type Test = (value: Json) => boolean

const COMPARE: Readonly<Record<'$gt' | '$gte' | '$lt' | '$lte', (a: number | string, b: number | string) => boolean>> =
  {
    $gt: (a, b) => a > b,
    $gte: (a, b) => a >= b,
    $lt: (a, b) => a < b,
    $lte: (a, b) => a <= b,
  }

/** The condition as a function; it was checked before. */
export function testOf(condition: Condition): FieldTest {
  if (isRecord(condition)) return operatorsTest(condition)
  if (Array.isArray(condition)) return operatorsTest({ $in: condition as readonly Scalar[] })
  return operatorsTest({ $eq: condition as Scalar })
}

/** CQ-058: a plug-in's column that is set, else a key of the metadata, else a dotted path into it. */
export function fieldValue(field: string, metadata: JsonObject | null, columns: JsonObject): Json | undefined {
  const column = Object.hasOwn(columns, field) ? columns[field] : null
  if (column !== null && column !== undefined) return column
  if (metadata === null) return undefined
  if (Object.hasOwn(metadata, field)) return metadata[field]
  return field.includes('.') ? valueAt(metadata, field.split('.')) : undefined
}

function operatorsTest(operators: ConditionOperators): FieldTest {
  const given = (Object.keys(operators) as Operator[]).filter(operator => operators[operator] !== undefined)
  const positive = given.filter(operator => operator !== '$ne' && operator !== '$nin' && operator !== '$exists')
  const negative = given.filter(operator => operator === '$ne' || operator === '$nin')
  const wanted = positive.map(operator => positiveTest(operator, operators))
  const unwanted = negative.map(operator => unwantedTest(operator, operators))
  const { $exists: exists } = operators
  return value => {
    const present = value ?? null
    if (exists !== undefined && exists !== (present !== null)) return false
    const elements: readonly Json[] = Array.isArray(present) ? (present as readonly Json[]) : [present]
    if (elements.some(element => unwanted.some(test => test(element)))) return false
    return wanted.length === 0 || elements.some(element => wanted.every(test => test(element)))
  }
}

function positiveTest(operator: Operator, operators: ConditionOperators): Test {
  switch (operator) {
    case '$eq':
      return value => value === operators.$eq
    case '$in':
      return memberOf(operators.$in as readonly Scalar[])
    case '$contains': {
      const part = fold(operators.$contains as string)
      return value => typeof value === 'string' && fold(value).includes(part)
    }
    default: {
      const compare = COMPARE[operator as keyof typeof COMPARE]
      const bound = operators[operator] as number | string
      return value => typeof value === typeof bound && compare(value as number | string, bound)
    }
  }
}

/** True of the values that `$ne` or `$nin` shuts out. */
function unwantedTest(operator: Operator, operators: ConditionOperators): Test {
  return operator === '$ne' ? value => value === operators.$ne : memberOf(operators.$nin as readonly Scalar[])
}

function memberOf(members: readonly Scalar[]): Test {
  const set: ReadonlySet<unknown> = new Set(members)
  return value => set.has(value)
}

function valueAt(metadata: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = metadata
  for (const step of path) {
    if (!isRecord(value) || !Object.hasOwn(value, step)) return undefined
    value = (value as JsonObject)[step]
  }
  return value
}

/** Equal texts of any case are equal after this; the same rule on both sides. */
function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
