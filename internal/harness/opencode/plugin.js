// Talking Stick in OpenCode: `tt install opencode` makes this file and `tt uninstall opencode` removes it, or a package brings it.
// It tells tt what happens in a session, shows the model what tt answers, stops a tool that may not change a
// file now, and wakes an idle session. If tt is missing or fails, it does nothing.
import { spawn, spawnSync } from "node:child_process"

const TT = "{{tt}}"

// The exit status by which tt asks to wake the agent. Any other is no order: a program that crashes has one too.
const WAKE = 76

// The tools that change files.
const EDITORS = ["edit", "write", "multiedit", "patch", "apply_patch", "bash"]

// Runs a hook and resolves to its answer, which is empty if anything fails.
function hook(event, directory, more = {}, args = []) {
  return new Promise((done) => {
    let out = "", err = ""
    try {
      const child = spawn(TT, ["hook", ...args], { cwd: directory, stdio: ["pipe", "pipe", "pipe"] })
      child.on("error", () => done({}))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (b) => (out += b))
      child.stderr.on("data", (b) => (err += b))
      child.on("close", (code) => {
        let said = {}
        try { said = out.trim() ? JSON.parse(out) : {} } catch {}
        done({ ...said, code, err: err.trim() })
      })
      child.stdin.end(JSON.stringify({ hook_event_name: event, cwd: directory, ...more }))
    } catch {
      done({})
    }
  })
}

const context = (said) => said.hookSpecificOutput?.additionalContext ?? ""

// A package may bring this file beside the one that `tt install` makes. The one that OpenCode loads first serves a directory.
const serving = (globalThis[Symbol.for("talking-stick")] ??= new Map())

async function server({ client, directory }) {
  if (!serving.has(directory)) serving.set(directory, import.meta.url)
  if (serving.get(directory) !== import.meta.url) return {}

  const briefed = new Map() // by session: what its next prompt brings along
  const children = new Set() // sessions of sub-agents: their parents coordinate
  const held = new Set() // sessions that have just been told not to stop yet

  const say = (id, text) => client.session.promptAsync({ path: { id }, body: { parts: [{ type: "text", text }] } }).catch(() => {})

  // A tool call, and whether a sub-agent makes it.
  const call = (input, args) => ({
    agent_id: children.has(input.sessionID) ? input.sessionID : "", tool_name: input.tool, tool_input: args ?? {},
  })

  async function idle(id) {
    const stop = await hook("stop", directory, { stop_hook_active: held.has(id) })
    if (stop.decision === "block") {
      held.add(id)
      return say(id, stop.reason)
    }
    held.delete(id)
    const wake = await hook("stop", directory, {}, ["--wake"])
    if (wake.code === WAKE && wake.err) await say(id, wake.err)
  }

  // OpenCode doesn't say when a session ends, so it ends with OpenCode.
  let started = false
  process.on("exit", () => {
    if (!started) return
    const said = JSON.stringify({ hook_event_name: "session_end", cwd: directory, reason: "exit" })
    try { spawnSync(TT, ["hook"], { cwd: directory, input: said, stdio: ["pipe", "ignore", "ignore"], timeout: 1500 }) } catch {}
  })

  return {
    event: async ({ event }) => {
      const p = event.properties ?? event.data ?? {}
      if (event.type === "session.created") {
        const info = p.info ?? {}
        if (info.parentID) return void children.add(info.id)
        started = true
        briefed.set(info.id ?? p.sessionID, hook("session_start", directory, { source: "startup" }).then(context))
      } else if (event.type === "session.compacted" && !children.has(p.sessionID)) {
        briefed.set(p.sessionID, hook("session_start", directory, { source: "compact" })
          .then((said) => hook("compact", directory).then(() => context(said))))
      } else if (event.type === "session.idle" && !children.has(p.sessionID)) {
        idle(p.sessionID) // not awaited: it may wait for hours
      }
    },
    "chat.message": async (input, output) => {
      if (children.has(input.sessionID)) return
      const texts = [await briefed.get(input.sessionID), context(await hook("prompt", directory))].filter(Boolean)
      briefed.delete(input.sessionID)
      const first = output.parts?.find((part) => part.type === "text")
      if (first && texts.length) first.text = texts.join("\n\n") + "\n\n" + first.text
    },
    "tool.execute.before": async (input, output) => {
      if (!EDITORS.includes(input.tool)) return
      const said = await hook("before_tool", directory, call(input, output?.args ?? input.args))
      if (said.decision === "deny") throw new Error(said.reason)
    },
    "tool.execute.after": async (input, output) => {
      if (children.has(input.sessionID) && !EDITORS.includes(input.tool)) return
      const news = context(await hook("after_tool", directory, call(input, input.args)))
      if (!news) return
      if (typeof output.output === "string") output.output += "\n\n" + news
      else if (Array.isArray(output.content)) output.content.push({ type: "text", text: news })
    },
  }
}

// Today's plugin loader calls the function. The next one asks for an id and a setup.
async function setup(ctx) {
  const hooks = await server({ client: { session: { promptAsync: ({ path, body }) => ctx.session.prompt({ sessionID: path.id, parts: body.parts, delivery: "queue" }) } }, directory: ctx.directory ?? process.cwd() })
  ctx.tool?.hook?.("execute.before", hooks["tool.execute.before"])
  ctx.tool?.hook?.("execute.after", hooks["tool.execute.after"])
  ctx.session?.hook?.("prompt", hooks["chat.message"])
  ctx.event?.subscribe?.((event) => hooks.event({ event: event.type === "session.execution.succeeded" ? { ...event, type: "session.idle" } : event }))
}

export const TalkingStick = server
export default Object.assign(server, { id: "talking-stick", setup, server })
