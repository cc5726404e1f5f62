import { defineConfig } from "vite";

// One classic script without imports: it is written into each page, also into those that are opened from a disk.
export default defineConfig({
  publicDir: false,
  build: {
    target: "es2022",
    outDir: process.env["PLIMSOLL_WEB_OUT"] ?? "../crates/report/assets",
    emptyOutDir: false,
    modulePreload: false,
    lib: { entry: "src/main.ts", formats: ["iife"], name: "plimsoll", fileName: () => "page.js" },
  },
});
