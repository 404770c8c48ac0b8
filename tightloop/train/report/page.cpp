// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/report/escape.h>
#include <tightloop/train/report/page.h>
#include <tightloop/train/report/style.h>

#include <fmt/format.h>

namespace tightloop::train::report {

std::string page(const std::string& title, const std::string& subtitle, const std::string& body) {
  return fmt::format(
      "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
      "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n"
      "<meta name=color-scheme content=\"light dark\">\n<meta name=generator content=tightloop>\n"
      "<link rel=icon href=\"data:,\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n"
      "<header><h1>{}</h1><p>{}</p></header>\n{}</main>\n<script>\n{}</script>\n</body>\n</html>\n",
      html(title), style(), html(title), html(subtitle), body, script());
}

std::string section(const std::string& id, const std::string& heading, const std::string& body) {
  if (body.empty()) return "";
  if (heading.empty()) return fmt::format("<section id={}>\n{}</section>\n", id, body);
  return fmt::format("<section id={0} aria-labelledby=h-{0}>\n<h2 id=h-{0}>{1}</h2>\n{2}</section>\n", id,
                     html(heading), body);
}

std::string tiles(const std::vector<std::pair<std::string, std::string>>& values) {
  std::string out = "<dl class=tiles>";
  for (const auto& [name, value] : values)
    out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", html(name), html(value));
  return out + "</dl>\n";
}

std::string foldable(const std::string& summary, const std::string& body, bool folded) {
  if (!folded) return body;
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", html(summary), body);
}

}  // namespace tightloop::train::report
