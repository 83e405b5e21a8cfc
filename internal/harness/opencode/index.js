// Talking Stick as a package for OpenCode: the hooks, the MCP server and the skill. It brings no program: where there is no tt,
// it does nothing.
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import plugin from "./plugin.js"

const NAME = "{{name}}"
const SERVER = {{server}}

const found = () => (process.env.PATH ?? "").split(delimiter).some((dir) => ["tt", "tt.exe"].some((name) => existsSync(join(dir, name))))

async function server(input) {
  if (!found()) return {}
  return {
    ...(await plugin.server(input)),
    config: async (config) => {
      config.mcp ??= {}
      config.mcp[NAME] ??= SERVER // one that is there already stays
      config.skills ??= {}
      config.skills.paths = [...(config.skills.paths ?? []), fileURLToPath(new URL("./skills", import.meta.url))]
    },
  }
}

export default { id: "{{id}}", server, setup: plugin.setup }
