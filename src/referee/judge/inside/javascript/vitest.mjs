// Put behind `base` and `facts`: the project's own configuration, and a test that must fail after the tests of each file.
const guarded = new Set(facts.files);

const canary = {
  name: "referee",
  enforce: "pre",
  transform(code, id) {
    if (!guarded.has(id.split("?")[0])) return undefined;
    const call = `refereeTest(${JSON.stringify(facts.name)}, () => { refereeExpect(1, ${JSON.stringify(facts.says)}).toBe(2) })`;
    const imported = 'import { test as refereeTest, expect as refereeExpect } from "vitest"';
    return { code: `${code}\n;${imported};${call};\n`, map: null };
  },
};

export default async (environment) => {
  const own = typeof base === "function" ? await base(environment) : await base;
  return { ...own, plugins: [...(own.plugins ?? []), canary] };
};
