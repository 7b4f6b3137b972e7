/** What `/openapi.json` says, as requests are made from it and answers are held to it. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Json, JsonObject } from '../../../src/base/canonical.ts'
import { isObject } from '../engine/json-kind.ts'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Json
}

/** One method of one path. */
export interface Described {
  readonly method: string
  /** With its parameters as `{name}`. */
  readonly path: string
  readonly parameters: readonly Parameter[]
  /** Null: it takes none. */
  readonly body: Json
}

type Problem = string | null

export class Description {
  readonly all: readonly Described[]
  readonly #document: JsonObject
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false })
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(document: JsonObject) {
    this.#document = document
    this.#ajv.addSchema({ $id: 'querent:/', ...document })
    this.all = membersOf(document['paths']).flatMap(([path, methods]) =>
      membersOf(methods).map(([method, item]) => this.#described(method.toUpperCase(), path, item as JsonObject)),
    )
  }

  /** What is wrong with an answer to it; null: it is as described. */
  problemOf({ method, path }: Described, status: number, type: string, body: string): Problem {
    const pointer = `/paths/${escaped(path)}/${method.toLowerCase()}/responses`
    const responses = this.#at(pointer)
    const said = responses[String(status)] === undefined ? 'default' : String(status)
    if (responses[said] === undefined) return `status ${status} is not declared: ${body.slice(0, 300)}`
    const response = this.#resolved(responses[said] as Json)
    const forms = isObject(response['content']) ? response['content'] : {}
    if (body === '' && Object.keys(forms).length === 0) return null
    const form = type.split(';')[0]?.trim() ?? ''
    if (!(form in forms)) return `${status} with ${form || 'no type'}, which is not declared: ${body.slice(0, 300)}`
    if (form !== 'application/json') return null
    return this.#problemIn(
      `${this.#pointerOf(responses[said] as Json, `${pointer}/${said}`)}/content/${escaped(form)}/schema`,
      body,
    )
  }

  #problemIn(pointer: string, body: string): Problem {
    let value: unknown
    try {
      value = JSON.parse(body)
    } catch {
      return `no JSON: ${body.slice(0, 300)}`
    }
    const known = this.#validators.get(pointer)
    const validate = known ?? this.#ajv.compile({ $ref: `querent:/#${encodeURI(pointer)}` })
    this.#validators.set(pointer, validate)
    if (validate(value)) return null
    const [error] = validate.errors ?? []
    return `the body is not as declared: ${error?.instancePath} ${error?.message} ${JSON.stringify(error?.params)}: ${body.slice(0, 600)}`
  }

  #described(method: string, path: string, item: JsonObject): Described {
    const listed = Array.isArray(item['parameters']) ? item['parameters'] : []
    const parameters = listed.map(one => {
      const { name, in: place, required = false, schema, content } = this.#resolved(one)
      const json = isObject(content) ? (content['application/json'] as JsonObject)['schema'] : undefined
      return { name, in: place, required, schema: this.#deep(schema ?? json ?? {}) } as unknown as Parameter
    })
    const { content } = this.#resolved(item['requestBody'] ?? {})
    const body = isObject(content) ? (content['application/json'] as JsonObject)['schema'] : undefined
    return { method, path, parameters, body: body === undefined ? null : this.#deep(body) }
  }

  /** With what its references stand for; a schema within itself is left open after some levels. */
  #deep(schema: Json, levels = 12): Json {
    if (Array.isArray(schema)) return schema.map(inner => this.#deep(inner, levels))
    if (!isObject(schema)) return schema
    if (levels === 0) return {}
    const whole = this.#resolved(schema)
    return Object.fromEntries(Object.entries(whole).map(([name, inner]) => [name, this.#deep(inner, levels - 1)]))
  }

  #resolved(value: Json): JsonObject {
    if (!isObject(value)) return {}
    const { $ref: ref, ...own } = value
    return typeof ref === 'string' ? { ...this.#at(ref.slice(1)), ...own } : own
  }

  #pointerOf(value: Json, pointer: string): string {
    const { $ref: ref } = isObject(value) ? value : {}
    return typeof ref === 'string' ? ref.slice(1) : pointer
  }

  #at(pointer: string): JsonObject {
    const names = pointer.slice(1).split('/')
    const found = names.reduce<Json | undefined>(
      (value, name) => (isObject(value) ? value[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
      this.#document,
    )
    if (!isObject(found)) throw new Error(`the document has nothing at ${pointer}`)
    return found
  }
}

function membersOf(value: Json | undefined): readonly (readonly [string, Json])[] {
  return isObject(value) ? Object.entries(value) : []
}

/** As a step of a JSON pointer. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
