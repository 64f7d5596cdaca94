// expect: use of deleted function|call to deleted constructor
#include <coppice/recap/session.hpp>

#include <nlohmann/json.hpp>

const nlohmann::json document = nlohmann::json::object();
#if COPPICE_FAIL
coppice::Session session(nlohmann::json::object());
#else
coppice::Session session(document);
#endif
